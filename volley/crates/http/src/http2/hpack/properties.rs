//! Properties of encoder and decoder together.

use super::{Decoder, Encoder, Field, HeaderList, HpackError, Indexing};
use proptest::prelude::*;

/// A few names and values, so that they repeat; some are in the static table.
fn fields() -> impl Strategy<Value = Vec<Field>> {
    let name = prop_oneof![
        "[a-d]{0,2}",
        Just(":status".to_owned()),
        Just("date".to_owned())
    ];
    let value = prop_oneof![
        "[01]{0,2}".prop_map(String::into_bytes),
        Just(b"200".to_vec()),
        prop::collection::vec(any::<u8>(), 0..300),
    ];
    let indexing = prop_oneof![
        Just(Indexing::Incremental),
        Just(Indexing::Without),
        Just(Indexing::Never)
    ];
    let field = (name, value, indexing)
        .prop_map(|(name, value, indexing)| Field::new(name.into_bytes(), value, indexing));
    prop::collection::vec(field, 0..12)
}

/// A block to send; before it, the receiver's SETTINGS may have changed its table's size.
fn steps() -> impl Strategy<Value = Vec<(Vec<usize>, Vec<Field>)>> {
    let size = prop_oneof![Just(0usize), 30usize..400, Just(4096), Just(100_000)];
    prop::collection::vec((prop::collection::vec(size, 0..3), fields()), 1..12)
}

fn pairs(fields: &[Field]) -> Vec<(&[u8], &[u8])> {
    fields
        .iter()
        .map(|field| (&*field.name, &*field.value))
        .collect()
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded_through_every_change_of_size(steps in steps()) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096, usize::MAX));
        let mut list = HeaderList::new();
        for (sizes, fields) in steps {
            for size in sizes {
                decoder.set_max_table_size(size);
                encoder.set_peer_max_table_size(size);
            }
            let mut block = Vec::new();
            encoder.encode(&fields, &mut block);
            list.clear();
            decoder.decode(&block, &mut list).unwrap();
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), pairs(&fields));
        }
    }

    #[test]
    fn a_stable_block_may_be_sent_again(before in fields(), fields in fields()) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096, usize::MAX));
        let mut list = HeaderList::new();
        let mut block = Vec::new();
        encoder.encode(&before, &mut block);
        encoder.encode(&fields, &mut block);
        let first_len = block.len();
        let is_stable = encoder.encode(&fields, &mut block);
        prop_assert!(is_stable, "the second block of the same fields is stable if they fit the table");
        let again = block[first_len..].to_vec();
        block.extend_from_slice(&again);
        decoder.decode(&block, &mut list).unwrap();
        let all: Vec<_> = [&before[..], &fields, &fields, &fields].concat();
        prop_assert_eq!(list.iter().collect::<Vec<_>>(), pairs(&all));
    }

    #[test]
    fn arbitrary_blocks_never_panic_and_never_grow_beyond_the_limits(
        blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8),
        table_size in 0usize..5000, list_size in 0usize..2000,
    ) {
        let mut decoder = Decoder::new(table_size, list_size);
        let mut list = HeaderList::new();
        for block in blocks {
            list.clear();
            let result = decoder.decode(&block, &mut list);
            prop_assert!(list.size() <= list_size);
            prop_assert!(decoder.table().size() <= decoder.table().max_size());
            prop_assert!(decoder.table().max_size() <= table_size);
            if !matches!(result, Ok(()) | Err(HpackError::ListTooLarge { .. })) {
                break;
            }
        }
    }

    #[test]
    fn the_limit_of_the_list_does_not_change_what_the_table_learns(
        blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..8), limit in 0usize..200,
    ) {
        let (mut narrow, mut wide) = (Decoder::new(4096, limit), Decoder::new(4096, usize::MAX));
        for block in blocks {
            let (mut short, mut long) = (HeaderList::new(), HeaderList::new());
            let (cut, whole) = (narrow.decode(&block, &mut short), wide.decode(&block, &mut long));
            match cut {
                Err(HpackError::ListTooLarge { .. }) => prop_assert!(whole.is_ok() && long.size() > limit),
                other => prop_assert_eq!(other, whole),
            }
            prop_assert!(long.iter().take(short.len()).eq(short.iter()));
            prop_assert!(narrow.table().iter().eq(wide.table().iter()));
        }
    }
}
