//! HPACK: arbitrary blocks stay within the limits, and what they decode to survives our encoder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_http::http2::hpack::{Decoder, Encoder, Field, HeaderList, HpackError, Indexing};

/// A block, and a size for the dynamic table, which may be announced before it.
type Step<'a> = (Option<u16>, &'a [u8]);

fuzz_target!(|input: (u16, Vec<Step>)| {
    let (list_limit, steps) = input;
    let list_limit = usize::from(list_limit);
    let mut narrow = Decoder::new(4096, list_limit);
    let mut wide = Decoder::new(4096, usize::MAX);
    let mut own = Channel {
        encoder: Encoder::new(),
        decoder: Decoder::new(4096, usize::MAX),
    };
    for (size, block) in steps {
        if let Some(size) = size.map(usize::from) {
            narrow.set_max_table_size(size);
            wide.set_max_table_size(size);
            own.encoder.set_peer_max_table_size(size);
            own.decoder.set_max_table_size(size);
        }
        let (mut cut, mut whole) = (HeaderList::new(), HeaderList::new());
        let cut_result = narrow.decode(block, &mut cut);
        let whole_result = wide.decode(block, &mut whole);
        assert!(cut.size() <= list_limit);
        assert!(whole.iter().take(cut.len()).eq(cut.iter()));
        match cut_result {
            Err(HpackError::ListTooLarge { .. }) => assert!(whole.size() > list_limit),
            result => assert_eq!(result, whole_result),
        }
        own.carry(&whole);
        if whole_result.is_err() {
            break;
        }
    }
});

/// Our encoder and our decoder, connected.
struct Channel {
    encoder: Encoder,
    decoder: Decoder,
}

impl Channel {
    /// Sends the fields twice, and then the second block again if that is allowed; all must arrive.
    fn carry(&mut self, list: &HeaderList) {
        let fields: Vec<Field> = list
            .iter()
            .map(|(name, value)| field(name, value))
            .collect();
        self.send(&fields, list);
        let (block, is_stable) = self.send(&fields, list);
        if is_stable {
            self.receive(&block, list);
        }
    }

    fn send(&mut self, fields: &[Field], expected: &HeaderList) -> (Vec<u8>, bool) {
        let mut block = Vec::new();
        let generation = self.encoder.generation();
        let is_stable = self.encoder.encode(fields, &mut block);
        assert_eq!(is_stable, self.encoder.generation() == generation);
        self.receive(&block, expected);
        (block, is_stable)
    }

    fn receive(&mut self, block: &[u8], expected: &HeaderList) {
        let mut list = HeaderList::new();
        assert_eq!(self.decoder.decode(block, &mut list), Ok(()));
        assert!(list.iter().eq(expected.iter()));
    }
}

/// A field to send; its bytes decide its indexing, so that the input controls it.
fn field(name: &[u8], value: &[u8]) -> Field {
    let indexing = match value.last().map_or(0, |byte| byte % 4) {
        2 => Indexing::Without,
        3 => Indexing::Never,
        _ => Indexing::Incremental,
    };
    Field::new(name, value, indexing)
}
