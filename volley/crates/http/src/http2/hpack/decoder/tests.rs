use super::*;

const LIMIT: usize = 16_384;

fn decoder() -> Decoder {
    Decoder::new(DEFAULT_TABLE_SIZE, LIMIT)
}

/// Decodes one block into "name=value" texts.
fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<String>, HpackError> {
    let mut list = HeaderList::new();
    decoder.decode(block, &mut list)?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(list
        .iter()
        .map(|(name, value)| text(name) + "=" + &text(value))
        .collect())
}

#[test]
fn an_empty_block_is_an_empty_list() {
    assert_eq!(decoded(&mut decoder(), b""), Ok(vec![]));
}

#[test]
fn index_0_and_indices_beyond_both_tables_are_refused() {
    let refused = |index| Err(HpackError::IndexOutOfRange(index));
    assert_eq!(decoded(&mut decoder(), &[0x80]), refused(0));
    assert_eq!(decoded(&mut decoder(), &[0x80 | 62]), refused(62));
    assert_eq!(decoded(&mut decoder(), &[0x7f, 0x00, 0x00]), refused(63));
    assert_eq!(
        decoded(&mut decoder(), &[0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]).ok(),
        None
    );
}

#[test]
fn a_block_cut_anywhere_inside_a_field_is_truncated() {
    let block = b"\x40\x03abc\x03def";
    for end in 1..block.len() {
        assert_eq!(
            decoded(&mut decoder(), &block[..end]),
            Err(HpackError::Truncated),
            "{end}"
        );
    }
    assert_eq!(decoded(&mut decoder(), block), Ok(vec!["abc=def".into()]));
}

#[test]
fn a_literal_may_take_the_name_of_the_very_entry_it_evicts() {
    let mut decoder = Decoder::new(40, LIMIT);
    assert_eq!(
        decoded(&mut decoder, b"\x40\x04name\x01a"),
        Ok(vec!["name=a".into()])
    );
    assert_eq!(
        decoded(&mut decoder, b"\x7e\x01b\xbe"),
        Ok(vec!["name=b".to_owned(); 2])
    );
    assert_eq!(decoder.table().iter().count(), 1);
}

#[test]
fn a_size_update_may_come_first_but_not_later() {
    assert_eq!(
        decoded(&mut decoder(), &[0x20, 0x3f, 0xe1, 0x1f, 0x82]),
        Ok(vec![":method=GET".into()])
    );
    assert_eq!(
        decoded(&mut decoder(), &[0x82, 0x20]),
        Err(HpackError::SizeUpdateNotFirst)
    );
}

#[test]
fn a_size_update_evicts_what_no_longer_fits() {
    let mut decoder = decoder();
    assert!(decoded(&mut decoder, b"\x40\x01a\x01b").is_ok());
    assert_eq!(
        decoded(&mut decoder, &[0x20, 0xbe]),
        Err(HpackError::IndexOutOfRange(62))
    );
}

#[test]
fn a_size_update_above_what_was_announced_is_refused() {
    let mut decoder = Decoder::new(4096, LIMIT);
    assert_eq!(
        decoded(&mut decoder, &[0x3f, 0xe2, 0x1f]),
        Err(HpackError::SizeUpdateTooLarge {
            asked: 4097,
            allowed: 4096
        })
    );
}

#[test]
fn a_larger_table_is_used_only_once_the_peer_asks_for_it() {
    let mut decoder = Decoder::new(8192, LIMIT);
    assert_eq!(decoder.table().max_size(), 4096);
    assert!(decoded(&mut decoder, &[0x3f, 0xe1, 0x3f]).is_ok());
    assert_eq!(decoder.table().max_size(), 8192);
}

#[test]
fn after_a_reduction_the_next_block_must_begin_with_a_size_update() {
    let mut decoder = decoder();
    decoder.set_max_table_size(0);
    assert_eq!(
        decoded(&mut decoder.clone(), &[0x82]),
        Err(HpackError::SizeUpdateMissing { allowed: 0 })
    );
    assert!(decoded(&mut decoder, &[0x20, 0x82]).is_ok());
    assert!(
        decoded(&mut decoder, &[0x82]).is_ok(),
        "the update is asked for only once"
    );
}

#[test]
fn of_several_reductions_the_smallest_must_be_signalled_first() {
    let mut decoder = decoder();
    decoder.set_max_table_size(30);
    decoder.set_max_table_size(10);
    decoder.set_max_table_size(100);
    assert_eq!(
        decoded(&mut decoder.clone(), &[0x3e]),
        Err(HpackError::SizeUpdateTooLarge {
            asked: 30,
            allowed: 10
        })
    );
    assert!(decoded(&mut decoder, &[0x2a, 0x3f, 0x45, 0x82]).is_ok());
    assert_eq!(decoder.table().max_size(), 100);
}

#[test]
fn a_list_of_just_the_limit_is_taken_and_one_byte_more_is_not() {
    let block = b"\0\x01a\x01b\0\x01c\x01d";
    assert!(decoded(&mut Decoder::new(4096, 68), block).is_ok());
    assert_eq!(
        decoded(&mut Decoder::new(4096, 67), block),
        Err(HpackError::ListTooLarge { limit: 67 })
    );
}

#[test]
fn a_list_too_large_is_cut_but_the_table_stays_right() {
    let mut decoder = Decoder::new(4096, 70);
    let mut list = HeaderList::new();
    // The second field is too large for the list; the third would fit, but the list would then have a gap.
    let block = b"\x40\x01a\x01b\x40\x100123456789abcdef\x10fedcba9876543210\x40\x01c\x01d";
    assert_eq!(
        decoder.decode(block, &mut list),
        Err(HpackError::ListTooLarge { limit: 70 })
    );
    assert_eq!((list.len(), list.get(b"a")), (1, Some(&b"b"[..])));
    assert_eq!(
        decoded(&mut decoder, &[0xbe, 0xc0]),
        Ok(vec!["c=d".into(), "a=b".into()])
    );
}

#[test]
fn an_error_inside_a_field_leaves_the_fields_before_it_whole() {
    let mut list = HeaderList::new();
    assert!(decoder().decode(b"\x82\0\x05start", &mut list).is_err());
    assert_eq!(
        list.iter().collect::<Vec<_>>(),
        [(&b":method"[..], &b"GET"[..])]
    );
}
