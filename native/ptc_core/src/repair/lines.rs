//! Lines and columns of offsets.

use super::replay::Repair;

/// Fills in the lines and columns of repairs, which are sorted by offset.
pub fn fill(text: &[u8], repairs: &mut [Repair]) {
    let mut here = Here::default();
    for repair in repairs {
        here.advance(text, repair.start);
        (repair.line, repair.column) = (here.line + 1, here.column + 1);
    }
}

/// Returns the line and the column of an offset, both from 1, with columns in characters.
pub fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let mut here = Here::default();
    here.advance(text, offset);
    (here.line + 1, here.column + 1)
}

#[derive(Default)]
struct Here {
    at: usize,
    line: usize,
    column: usize,
}

impl Here {
    fn advance(&mut self, text: &[u8], to: usize) {
        let to = to.min(text.len()).max(self.at);
        for byte in &text[self.at..to] {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 0),
                0x80..=0xBF => {}
                _ => self.column += 1,
            }
        }
        self.at = to;
    }
}
