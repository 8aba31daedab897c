//! A binary in pieces of bounded length, each valid UTF-8 or none.

/// Bytes of a piece, at most three more.
const PIECE: usize = 16_384;

/// A part of a binary.
pub(crate) enum Piece<'t> {
    /// Characters.
    Valid(&'t str),
    /// Bytes that are no characters.
    Invalid(&'t [u8]),
}

/// Passes the binary to `visit` in pieces. Calls `count` before each, with its length in bytes.
pub(crate) fn each_piece<'t, E>(
    text: &'t [u8],
    mut count: impl FnMut(usize) -> Result<(), E>,
    mut visit: impl FnMut(Piece<'t>),
) -> Result<(), E> {
    let mut at = 0;
    while at < text.len() {
        let end = boundary(text, (at + PIECE).min(text.len()));
        count(end - at)?;
        for chunk in text[at..end].utf8_chunks() {
            if !chunk.valid().is_empty() {
                visit(Piece::Valid(chunk.valid()));
            }
            if !chunk.invalid().is_empty() {
                visit(Piece::Invalid(chunk.invalid()));
            }
        }
        at = end;
    }
    Ok(())
}

/// Returns the end of the character that contains the byte before `end`, if it is in one.
fn boundary(text: &[u8], end: usize) -> usize {
    let goes_on = |at: usize| matches!(text.get(at), Some(0x80..=0xBF));
    (end..end + 4).find(|at| !goes_on(*at)).unwrap_or(end)
}
