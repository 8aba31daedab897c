//! The text of errors in one line: `results.0.id: expected int, got string; root: expected map, got list`.

use super::findings::LONGEST_PATH;

/// Maximum bytes of a path, and of a message.
const PART: usize = LONGEST_PATH;
/// Maximum bytes of the line, without the number of omitted errors.
pub const LONGEST_LINE: usize = 1_048_576;

/// A line that is being written.
#[derive(Debug, Default)]
pub struct ErrorLine {
    text: Vec<u8>,
    /// The starts of the current error, and of its path or message.
    error: usize,
    start: usize,
    /// Bytes of the current path or message, including those that are cut off.
    part: usize,
}

impl ErrorLine {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Begins an error with its path.
    pub fn begin(&mut self) {
        self.error = self.text.len();
        if self.error > 0 {
            self.text.extend_from_slice(b"; ");
        }
        (self.start, self.part) = (self.text.len(), 0);
    }

    /// Appends to the path or message, up to the limit.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let room = (PART + 1).saturating_sub(self.part).min(bytes.len());
        self.text.extend_from_slice(&bytes[..room]);
        self.part += bytes.len();
    }

    /// Appends an index: `write!` would take most of the time of an error.
    pub fn index(&mut self, mut rest: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    /// Ends the path; the message follows.
    pub fn message(&mut self) {
        self.cut();
        self.text.extend_from_slice(b": ");
        (self.start, self.part) = (self.text.len(), 0);
    }

    /// Ends the error. Returns false, and removes the error, if the line is too long with it.
    pub fn end(&mut self) -> bool {
        self.end_within(LONGEST_LINE)
    }

    /// Ends the error, as [`Self::end`] does, of a line of at most this many bytes.
    pub fn end_within(&mut self, most: usize) -> bool {
        self.cut();
        // Each error counts with the two bytes of its separator.
        let fits = self.text.len() + 2 <= most;
        if !fits {
            self.text.truncate(self.error);
        }
        fits
    }

    /// Returns the line, with the number of errors that it does not show.
    pub fn finish(mut self, more: usize) -> Vec<u8> {
        if more > 0 {
            let separator = if self.is_empty() { "" } else { "; " };
            let note = format!("{separator}and {more} more");
            self.text.extend_from_slice(note.as_bytes());
        }
        self.text
    }

    /// Cuts off a long path or message, with a note of its size.
    fn cut(&mut self) {
        if self.part <= PART {
            return;
        }
        let note = format!("… ({} bytes)", self.part);
        let mut end = self.start + PART - note.len();
        // Do not split a character.
        let inside = |end: usize| matches!(self.text[end], 0x80..=0xBF);
        end -= (0..3).take_while(|step| inside(end - step)).count();
        self.text.truncate(end);
        self.text.extend_from_slice(note.as_bytes());
    }
}
