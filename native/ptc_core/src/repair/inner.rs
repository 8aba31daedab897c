//! JSON that stands in a string.

use super::fits::Fits;
use super::unescape::unescape;
use super::wanted::{Ty, Wanted};
use crate::answer::LIMITS;
use crate::json::{Extent, Reader};

/// The JSON of a string, if all of it is JSON of the type.
pub fn read(content: &[u8], wanted: &Wanted, ty: Ty) -> Option<Vec<u8>> {
    let trimmed = content.trim_ascii();
    let (first, last) = (trimmed.first()?, trimmed.last()?);
    if !matches!((first, last), (b'{', b'}') | (b'[', b']')) {
        return None;
    }
    let mut text = Vec::with_capacity(trimmed.len());
    unescape(trimmed, &mut text);
    let mut fits = Fits::new(wanted, ty);
    let mut reader = Reader::new(0, Extent::Whole, LIMITS);
    reader.read(&text, &mut fits).ok()?;
    fits.fits().then_some(text)
}
