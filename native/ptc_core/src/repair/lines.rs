//! Lines and columns of offsets.

use super::replay::Repair;
use memchr::{memchr_iter, memrchr};

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
        let mut passed = &text[self.at..to];
        if let Some(last) = memrchr(b'\n', passed) {
            self.line += memchr_iter(b'\n', passed).count();
            self.column = 0;
            passed = &passed[last + 1..];
        }
        let begins_character = |byte: &&u8| !matches!(byte, 0x80..=0xBF);
        self.column += passed.iter().filter(begins_character).count();
        self.at = to;
    }
}
