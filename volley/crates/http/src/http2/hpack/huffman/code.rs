//! The Huffman code of RFC 7541 Appendix B, derived from the lengths of its codes.
//!
//! The code is canonical: the codes of one length are consecutive numbers, in the order of their symbols, and each
//! length continues where the shorter one ended. So the lengths define the code.

/// Symbols: 256 octets and the end of the string.
pub const SYMBOLS: usize = 257;

/// Bits of the longest code.
pub const MAX_BITS: usize = 30;

/// Bits of each symbol's code.
pub const BITS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, //
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, //
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, //
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, //
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, //
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, //
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, //
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, //
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, //
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, //
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, //
    30,
];

/// Each symbol's code, right-aligned.
pub const CODES: [u32; SYMBOLS] = codes();

/// How many codes each length has.
pub const COUNTS: [u32; MAX_BITS + 1] = counts();

/// The first code of each length, right-aligned.
pub const FIRST: [u32; MAX_BITS + 1] = first();

const fn counts() -> [u32; MAX_BITS + 1] {
    let mut counts = [0; MAX_BITS + 1];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        counts[BITS[symbol] as usize] += 1;
        symbol += 1;
    }
    counts
}

const fn first() -> [u32; MAX_BITS + 1] {
    let mut first = [0; MAX_BITS + 1];
    let mut bits = 1;
    while bits <= MAX_BITS {
        first[bits] = (first[bits - 1] + COUNTS[bits - 1]) << 1;
        bits += 1;
    }
    first
}

const fn codes() -> [u32; SYMBOLS] {
    let mut next = FIRST;
    let mut codes = [0; SYMBOLS];
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let bits = BITS[symbol] as usize;
        codes[symbol] = next[bits];
        next[bits] += 1;
        symbol += 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_complete() {
        let taken: u64 = BITS
            .iter()
            .map(|&bits| 1 << (MAX_BITS - usize::from(bits)))
            .sum();
        assert_eq!(taken, 1 << MAX_BITS);
    }

    #[test]
    fn codes_are_those_of_the_rfc() {
        let samples: [(usize, u32, u8); 8] = [
            (0, 0x1ff8, 13),
            (usize::from(b' '), 0x14, 6),
            (usize::from(b'0'), 0x0, 5),
            (usize::from(b'\\'), 0x7fff0, 19),
            (usize::from(b'z'), 0x7b, 7),
            (127, 0x0fff_fffc, 28),
            (255, 0x3ff_ffee, 26),
            (256, 0x3fff_ffff, 30),
        ];
        for (symbol, code, bits) in samples {
            assert_eq!(
                (CODES[symbol], BITS[symbol]),
                (code, bits),
                "symbol {symbol}"
            );
        }
    }
}
