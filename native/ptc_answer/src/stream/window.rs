//! The last bytes of a text, by their offset in the whole text.

#[derive(Clone, Copy)]
pub(super) struct Window<'t> {
    pub bytes: &'t [u8],
    pub begin: usize,
}

impl<'t> Window<'t> {
    pub fn new(bytes: &'t [u8], begin: usize) -> Self {
        Window { bytes, begin }
    }

    pub fn byte(self, at: usize) -> u8 {
        self.bytes[at - self.begin]
    }

    pub fn from(self, at: usize) -> &'t [u8] {
        &self.bytes[at - self.begin..]
    }
}
