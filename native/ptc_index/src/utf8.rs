//! UTF-8 of the text, in pieces.

/// What was validated so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Utf8State {
    /// The offset up to which the text is valid.
    valid: usize,
    /// Not 0 if there are bytes from 0x80 on behind it.
    high: u64,
}

impl Utf8State {
    /// Notes that the next block has bytes from 0x80 on, if `high` is not 0.
    #[inline(always)]
    pub fn note(&mut self, high: u64) {
        self.high |= high;
    }

    /// Validates the text up to `end`, except for the first bytes of a character that does not end there.
    #[inline]
    pub fn validate(&mut self, text: &[u8], end: usize) -> bool {
        if self.high == 0 {
            self.valid = end;
            return true;
        }
        self.validate_high(text, end)
    }

    fn validate_high(&mut self, text: &[u8], end: usize) -> bool {
        let piece = text.get(self.valid..end).unwrap_or_default();
        match std::str::from_utf8(piece) {
            Ok(_) => (self.valid, self.high) = (end, 0),
            Err(error) if error.error_len().is_none() && end < text.len() => {
                self.valid += error.valid_up_to();
            }
            Err(_) => return false,
        }
        true
    }
}
