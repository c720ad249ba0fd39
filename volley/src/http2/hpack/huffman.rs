//! The Huffman code for strings (RFC 7541 §5.2 and Appendix B).

mod code;
mod decode;
mod encode;

pub use decode::decode;
pub use encode::{encode, encoded_len};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_string_comes_back_from_its_code(string: Vec<u8>) {
            let mut coded = Vec::new();
            encode(&string, &mut coded);
            prop_assert_eq!(coded.len(), encoded_len(&string));
            let mut out = b"before".to_vec();
            decode(&coded, &mut out).unwrap();
            prop_assert_eq!(out.strip_prefix(b"before"), Some(&string[..]));
        }

        #[test]
        fn bytes_that_decode_are_the_only_code_of_their_string(coded: Vec<u8>) {
            let mut string = Vec::new();
            if decode(&coded, &mut string).is_ok() {
                let mut again = Vec::new();
                encode(&string, &mut again);
                prop_assert_eq!(again, coded);
            }
        }
    }
}
