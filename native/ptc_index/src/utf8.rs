//! UTF-8 of the text, in pieces.

/// What was validated so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Utf8State {
    /// The offset up to which the text is valid.
    valid: usize,
    /// Whether there are bytes from 0x80 on behind it.
    high: bool,
}

impl Utf8State {
    /// Whether there are bytes from 0x80 on in the next block.
    #[inline(always)]
    pub fn note(&mut self, high: bool) {
        self.high |= high;
    }

    /// Validates the text up to `end`, except for the first bytes of a character that does not end there.
    #[inline]
    pub fn validate(&mut self, text: &[u8], end: usize) -> bool {
        if !self.high {
            self.valid = end;
            return true;
        }
        self.validate_high(text, end)
    }

    fn validate_high(&mut self, text: &[u8], end: usize) -> bool {
        let piece = text.get(self.valid..end).unwrap_or_default();
        match std::str::from_utf8(piece) {
            Ok(_) => (self.valid, self.high) = (end, false),
            Err(error) if error.error_len().is_none() && end < text.len() => {
                self.valid += error.valid_up_to();
            }
            Err(_) => return false,
        }
        true
    }
}
