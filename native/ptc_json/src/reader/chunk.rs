//! Texts in chunks: what is kept of a chunk, and what is open at its end.

use super::{Phase, Reader};

impl Reader {
    /// The open brackets, innermost last; true is an object.
    pub fn open(&self) -> &[bool] {
        &self.open
    }

    /// Returns the offset up to which the string value was read in which a chunk ended, a partial escape
    /// excluded.
    pub fn open_string(&self) -> Option<usize> {
        match self.phase {
            Phase::Inside(scan, false) => Some(scan.at),
            _ => None,
        }
    }

    /// After a chunk: offsets count from the first byte that is still needed; returns the number of bytes
    /// before it. An open key is needed, and if `string` is set an open string, unless it has escapes or
    /// more bytes than `longest`; the same for an open number or word.
    pub fn drop_chunk(&mut self, string: bool, longest: usize) -> usize {
        let dropped = match &mut self.phase {
            Phase::Inside(scan, key) => {
                scan.escaped |= !(*key || string) || scan.at - scan.start > longest;
                let dropped = if scan.escaped { scan.at } else { scan.start };
                scan.at -= dropped;
                scan.start = 0;
                dropped
            }
            Phase::Number(start, _) => match std::mem::take(start) {
                start if string && self.at - start <= longest => start,
                _ => self.at,
            },
            Phase::Word(_, read) if string => self.at - *read,
            _ => self.at,
        };
        self.at -= dropped;
        dropped
    }
}
