//! A binary in pieces of bounded length, each valid UTF-8 or none.

/// Bytes of a piece, at most three more.
pub(crate) const PIECE: usize = 16_384;

/// Bytes that are checked to be UTF-8 per unit of fuel.
const BYTES_CHECKED_A_UNIT: usize = 16;

/// A part of a binary.
pub(crate) enum Piece<'t> {
    /// Characters.
    Valid(&'t str),
    /// Bytes that are no characters.
    Invalid(&'t [u8]),
}

/// Passes the binary from `at` on to `visit` in pieces. Calls `count` before each, with the piece. If that fails, `at` is
/// where to go on.
pub(crate) fn each_piece<'t, E>(
    text: &'t [u8],
    at: &mut usize,
    mut count: impl FnMut(&[u8]) -> Result<(), E>,
    mut visit: impl FnMut(Piece<'t>),
) -> Result<(), E> {
    while *at < text.len() {
        let end = boundary(text, (*at + PIECE).min(text.len()));
        count(&text[*at..end])?;
        for chunk in text[*at..end].utf8_chunks() {
            if !chunk.valid().is_empty() {
                visit(Piece::Valid(chunk.valid()));
            }
            if !chunk.invalid().is_empty() {
                visit(Piece::Invalid(chunk.invalid()));
            }
        }
        *at = end;
    }
    Ok(())
}

/// Returns the end of the character that contains the byte before `end`, if it is in one.
pub(crate) fn boundary(text: &[u8], end: usize) -> usize {
    let goes_on = |at: usize| matches!(text.get(at), Some(0x80..=0xBF));
    (end..end + 4).find(|at| !goes_on(*at)).unwrap_or(end)
}

/// Returns whether the binary is UTF-8 from `at` on. Calls `count` before each piece, with its cost; if that fails, `at` is
/// where to go on.
pub fn is_utf8<E>(
    text: &[u8],
    at: &mut usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<bool, E> {
    while *at < text.len() {
        let end = boundary(text, (*at + PIECE).min(text.len()));
        count(1 + (end - *at) / BYTES_CHECKED_A_UNIT)?;
        if std::str::from_utf8(&text[*at..end]).is_err() {
            return Ok(false);
        }
        *at = end;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_utf8() {
        let is = |text: &[u8]| is_utf8(text, &mut 0, |_| Ok::<(), ()>(())) == Ok(true);
        let long = "xž".repeat(PIECE);
        assert!(is(b"") && is(b"a") && is(long.as_bytes()));
        for wrong in [
            &b"\xC3"[..],
            b"\x80",
            b"\xED\xA0\x80",
            b"\x80\x80\x80\x80\x80",
        ] {
            assert!(!is(wrong));
            let at_the_end = [long.as_bytes(), wrong].concat();
            assert!(!is(&at_the_end));
            for shift in 0..6 {
                let text = [&vec![b'a'; PIECE - shift][..], wrong, b"a"].concat();
                assert!(!is(&text));
            }
        }
    }
}
