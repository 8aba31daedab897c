//! A fingerprint of a text.

/// Fingerprint of a text: suspended work is resumed only with the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    length: usize,
    ends: u64,
}

impl Fingerprint {
    /// Returns the fingerprint of a text: of its length, its first and its last bytes.
    pub fn of(text: &[u8]) -> Self {
        const MOST: usize = 64;
        let head = &text[..text.len().min(MOST)];
        let tail = &text[text.len().saturating_sub(MOST)..];
        let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Fingerprint {
            length: text.len(),
            ends: head.iter().chain(tail).fold(0xcbf2_9ce4_8422_2325, mix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lengths_and_ends_are_other_texts() {
        let of = |text: &str| Fingerprint::of(text.as_bytes());
        assert_eq!(of("abc"), of("abc"));
        assert_ne!(of("abc"), of("abd"));
        assert_ne!(of("abc"), of("abc "));
        assert_ne!(of(""), of(" "));
    }
}
