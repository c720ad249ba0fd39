use super::*;

fn field(name: &str, value: &str, indexing: Indexing) -> Field {
    Field::new(name.as_bytes(), value.as_bytes(), indexing)
}

fn encoded(encoder: &mut Encoder, fields: &[Field]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let is_stable = encoder.encode(fields, &mut out);
    (out, is_stable)
}

#[test]
fn a_repeated_block_shrinks_to_indices_and_is_stable() {
    let mut encoder = Encoder::new();
    let fields = [
        field(":method", "POST", Indexing::Incremental),
        field("te", "trailers", Indexing::Incremental),
    ];
    let (_, is_stable) = encoded(&mut encoder, &fields);
    assert!(!is_stable);
    let generation = encoder.generation();
    assert_eq!(encoded(&mut encoder, &fields), (vec![0x83, 0xbe], true));
    assert_eq!(encoder.generation(), generation);
}

#[test]
fn what_is_not_to_be_indexed_changes_nothing() {
    let mut encoder = Encoder::new();
    let fields = [
        field("x", "1", Indexing::Without),
        field(":path", "1", Indexing::Never),
    ];
    let expected = (b"\0\x01x\x011\x14\x011".to_vec(), true);
    assert_eq!(encoded(&mut encoder, &fields), expected);
    assert_eq!(encoded(&mut encoder, &fields), expected);
    assert_eq!(encoder.generation(), 0);
}

#[test]
fn a_secret_is_a_literal_even_if_a_table_holds_it() {
    let mut encoder = Encoder::new();
    encoded(&mut encoder, &[field("x", "1", Indexing::Incremental)]);
    let (block, _) = encoded(&mut encoder, &[field("x", "1", Indexing::Never)]);
    assert_eq!(block, b"\x1f\x2f\x011");
}

#[test]
fn fields_larger_than_the_table_together_come_to_rest() {
    let mut encoder = Encoder::new();
    let value = |byte: &str| byte.repeat(1500);
    let fields = ["~", "^", "|", "}"].map(|byte| field("x", &value(byte), Indexing::Incremental));
    assert!(!encoded(&mut encoder, &fields).1);
    let (second, is_stable) = encoded(&mut encoder, &fields);
    assert!(is_stable);
    assert_eq!(encoded(&mut encoder, &fields), (second, true));
}

#[test]
fn entries_of_old_blocks_make_room_for_new_ones() {
    let mut encoder = Encoder::new();
    for byte in ["~", "^", "|", "}"] {
        let fields = [field("x", &byte.repeat(1500), Indexing::Incremental)];
        encoded(&mut encoder, &fields);
        assert_eq!(encoded(&mut encoder, &fields), (vec![0xbe], true));
    }
}

#[test]
fn a_smaller_table_of_the_peer_is_acknowledged_in_the_next_block_only() {
    let mut encoder = Encoder::new();
    let fields = [field("x", "1", Indexing::Incremental)];
    encoded(&mut encoder, &fields);
    let generation = encoder.generation();
    encoder.set_peer_max_table_size(0);
    assert!(
        encoder.generation() > generation,
        "a block made before must not be sent again"
    );
    assert_eq!(
        encoded(&mut encoder, &fields),
        (b"\x20\0\x01x\x011".to_vec(), false)
    );
    assert_eq!(
        encoded(&mut encoder, &fields),
        (b"\0\x01x\x011".to_vec(), true)
    );
}

#[test]
fn of_several_sizes_the_smallest_and_the_last_are_announced() {
    let mut encoder = Encoder::new();
    encoded(&mut encoder, &[field("x", "1", Indexing::Incremental)]);
    encoder.set_peer_max_table_size(20);
    encoder.set_peer_max_table_size(10);
    encoder.set_peer_max_table_size(100);
    let (block, _) = encoded(&mut encoder, &[field("x", "1", Indexing::Incremental)]);
    assert_eq!(
        block, b"\x2a\x3f\x45\x40\x01x\x011",
        "the entry was lost at size 10"
    );
}

#[test]
fn a_larger_table_of_the_peer_changes_nothing_until_it_is_taken_back() {
    let mut encoder = Encoder::new();
    encoder.set_peer_max_table_size(4096);
    encoder.set_peer_max_table_size(65_536);
    assert_eq!(encoded(&mut encoder, &[]), (vec![], true));
    encoder.set_peer_max_table_size(8192);
    assert_eq!(encoded(&mut encoder, &[]), (vec![0x3f, 0xe1, 0x1f], false));
}
