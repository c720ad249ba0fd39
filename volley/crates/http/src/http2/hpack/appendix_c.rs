//! The examples of RFC 7541 Appendix C.2 to C.6. (C.1, integers, is tested beside the integers.)

use volley_testkit::table::table;

use super::{DEFAULT_TABLE_SIZE, Decoder, Encoder, Field, HeaderList, Indexing};

/// C.2.1 to C.2.4. Each row has a block, the fields it holds, and the dynamic table after it with its size.
const FIELDS: [&str; 4] = [
    "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572 =>
        => custom-key=custom-header => custom-key=custom-header => 55",
    "040c 2f73 616d 706c 652f 7061 7468 =>
        => :path=/sample/path =>  => 0",
    "1008 7061 7373 776f 7264 0673 6563 7265 74 =>
        => password=secret =>  => 0",
    "82 =>
        => :method=GET =>  => 0",
];

/// C.3.1 to C.4.3. The first block is one without Huffman codes, the second one with them.
const REQUESTS: &str = "
    8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d => 8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff
        => :method=GET | :scheme=http | :path=/ | :authority=www.example.com
        => :authority=www.example.com => 57
    8286 84be 5808 6e6f 2d63 6163 6865 => 8286 84be 5886 a8eb 1064 9cbf
        => :method=GET | :scheme=http | :path=/ | :authority=www.example.com | cache-control=no-cache
        => cache-control=no-cache | :authority=www.example.com => 110
    8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65 => 8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf
        => :method=GET | :scheme=https | :path=/index.html | :authority=www.example.com | custom-key=custom-value
        => custom-key=custom-value | cache-control=no-cache | :authority=www.example.com => 164
";

/// C.5.1 to C.6.3
const RESPONSES: &str = "
    4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d => 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3
        => :status=302 | cache-control=private | date=Mon, 21 Oct 2013 20:13:21 GMT | location=https://www.example.com
        => location=https://www.example.com | date=Mon, 21 Oct 2013 20:13:21 GMT | cache-control=private | :status=302 => 222
    4803 3330 37c1 c0bf => 4883 640e ffc1 c0bf
        => :status=307 | cache-control=private | date=Mon, 21 Oct 2013 20:13:21 GMT | location=https://www.example.com
        => :status=307 | location=https://www.example.com | date=Mon, 21 Oct 2013 20:13:21 GMT | cache-control=private => 222
    88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31 => 88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07
        => :status=200 | cache-control=private | date=Mon, 21 Oct 2013 20:13:22 GMT | location=https://www.example.com | content-encoding=gzip | set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1
        => set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1 | content-encoding=gzip | date=Mon, 21 Oct 2013 20:13:22 GMT => 215
";

type Fields = Vec<(&'static str, &'static str)>;

/// A block, the fields it holds, and the dynamic table after it with its size.
struct Step {
    block: Vec<u8>,
    fields: Fields,
    table: Fields,
    size: usize,
}

fn steps(rows: &str, with_huffman: bool) -> Vec<Step> {
    let fields = |cell: &'static str| -> Fields {
        let fields = cell.split(" | ").filter(|field| !field.is_empty());
        let pair = |field: &'static str| {
            let equals = 1 + field[1..].find('=').unwrap();
            (&field[..equals], &field[equals + 1..])
        };
        fields.map(pair).collect()
    };
    let rows = rows.replace("\n        =>", " =>");
    let step = |[plain, huffman, held, table, size]: [&'static str; 5]| Step {
        block: unhex(if with_huffman { huffman } else { plain }),
        fields: fields(held),
        table: fields(table),
        size: size.parse().unwrap(),
    };
    table(&rows).into_iter().map(step).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<(&'a str, &'a str)> {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    pairs
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

/// Decodes the steps one after another with one table of `max_size` bytes.
fn decode_all(max_size: usize, steps: &[Step]) {
    let mut decoder = Decoder::new(max_size, usize::MAX);
    let mut list = HeaderList::new();
    for step in steps {
        list.clear();
        decoder.decode(&step.block, &mut list).unwrap();
        assert_eq!(pairs(list.iter()), step.fields);
        let table = decoder.table();
        let entries = table.iter().map(|entry| (entry.name(), entry.value()));
        assert_eq!(pairs(entries), step.table);
        assert_eq!(table.size(), step.size);
    }
}

/// Encodes the steps one after another and expects exactly their blocks; the first may begin with a size update to
/// `max_size`.
fn encode_all(max_size: usize, steps: &[Step]) {
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    if max_size != DEFAULT_TABLE_SIZE {
        encoder.set_peer_max_table_size(max_size);
        encoder.encode(&[], &mut out);
    }
    for step in steps {
        let field = |(name, value): &(&str, &str)| {
            Field::new(name.as_bytes(), value.as_bytes(), Indexing::Incremental)
        };
        let fields: Vec<_> = step.fields.iter().map(field).collect();
        out.clear();
        encoder.encode(&fields, &mut out);
        assert_eq!(out, step.block);
    }
}

#[test]
fn c_2_single_fields_are_decoded() {
    for row in FIELDS {
        decode_all(4096, &steps(row, false));
    }
}

#[test]
fn c_3_and_c_4_requests_are_decoded_and_those_with_huffman_codes_encoded_byte_for_byte() {
    decode_all(4096, &steps(REQUESTS, false));
    decode_all(4096, &steps(REQUESTS, true));
    encode_all(4096, &steps(REQUESTS, true));
}

#[test]
fn c_5_and_c_6_responses_are_decoded_and_those_with_huffman_codes_encoded_byte_for_byte() {
    decode_all(256, &steps(RESPONSES, false));
    decode_all(256, &steps(RESPONSES, true));
    // The second has "307" in a Huffman code that is not shorter, and the third evicts an entry that it uses itself.
    // This encoder does neither.
    encode_all(256, &steps(RESPONSES, true)[..1]);
}
