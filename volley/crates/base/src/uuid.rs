//! Random UUIDs.

use fastrand::Rng;

/// A random UUID: version 4, variant 1 (RFC 9562 §5.4).
#[derive(Clone, Copy, Debug)]
pub struct Uuid(u128);

impl Uuid {
    pub fn new(random: &mut Rng) -> Self {
        let bits = random.u128(..);
        let bits = bits & !(0xf << 76) | 0x4 << 76;
        Self(bits & !(0x3 << 62) | 0x2 << 62)
    }

    /// Its text.
    pub fn text(self) -> [u8; 36] {
        let word = |shift: u32| hex((self.0 >> shift) as u32);
        let (first, second, third, last) = (word(96), word(64), word(32), word(0));
        let mut text = [b'-'; 36];
        text[..8].copy_from_slice(&first);
        text[9..13].copy_from_slice(&second[..4]);
        text[14..18].copy_from_slice(&second[4..]);
        text[19..23].copy_from_slice(&third[..4]);
        text[24..28].copy_from_slice(&third[4..]);
        text[28..].copy_from_slice(&last);
        text
    }

    pub fn render(self, out: &mut String) {
        out.push_str(str::from_utf8(&self.text()).unwrap_or_default());
    }
}

/// The eight hexadecimal digits of a word, all at once: first each in a byte of its own, then as text.
fn hex(word: u32) -> [u8; 8] {
    let digits = u64::from(word);
    let digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
    let digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
    let digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // 6 carries 10 and more into the next bits.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    let letter = u64::from(b'a' - 10 - b'0');
    (digits + 0x3030_3030_3030_3030 + letters * letter).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_says_its_version_and_its_variant() {
        for seed in 0..50 {
            let mut uuid = String::new();
            Uuid::new(&mut Rng::with_seed(seed)).render(&mut uuid);
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
            assert_eq!(uuid.as_bytes()[14], b'4', "{uuid}");
            assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        }
    }
}
