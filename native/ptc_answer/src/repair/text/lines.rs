//! Lines and columns of offsets.

/// Returns the line and the column of an offset, both from 1, with columns in characters.
pub fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    Cursor::default().advance(text, offset)
}

/// A place in a text that only moves forwards.
#[derive(Default)]
pub(in crate::repair) struct Cursor {
    at: usize,
    line: usize,
    column: usize,
}

impl Cursor {
    /// Moves to an offset, unless it is behind; returns the line and the column.
    pub fn advance(&mut self, text: &[u8], to: usize) -> (usize, usize) {
        let to = to.min(text.len()).max(self.at);
        for byte in &text[self.at..to] {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 0),
                0x80..=0xBF => {}
                _ => self.column += 1,
            }
        }
        self.at = to;
        (self.line + 1, self.column + 1)
    }
}
