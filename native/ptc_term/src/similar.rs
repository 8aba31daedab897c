//! "Did you mean": finds the known name that is most similar to an unknown one.
//!
//! `PtcRunner.Json.Suggestion` uses the same measure. A letter is a character here and a grapheme there, which is
//! the same for ASCII names.

/// Minimum similarity of a mistyped name.
const CLOSE: f64 = 0.8;
/// A name with more letters, per letter of the longest known name, is not similar to any.
const LETTERS_PER_LETTER: usize = 3;
/// Maximum number of bytes of a letter.
const BYTES_PER_LETTER: usize = 4;

/// Returns the most similar name; of equally similar ones the first. No name may be longer than
/// `longest` letters. `None` if no name is close.
pub fn closest<'n>(
    unknown: &[u8],
    names: impl Iterator<Item = &'n str>,
    longest: usize,
) -> Option<&'n str> {
    if unknown.len() > BYTES_PER_LETTER * LETTERS_PER_LETTER * longest {
        return None;
    }
    let text = std::str::from_utf8(unknown).ok()?;
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut best = None;
    let mut most = CLOSE;
    for name in names {
        let name_letters: Vec<char> = name.chars().collect();
        let score = similarity(&letters, &name_letters);
        if score > most {
            (best, most) = (Some(name), score);
        }
    }
    best
}

/// Returns the Jaro similarity of two names, from 0.0 (nothing in common) to 1.0 (equal).
pub fn similarity<L: PartialEq + Copy>(a: &[L], b: &[L]) -> f64 {
    if a == b {
        return if a.is_empty() { 0.0 } else { 1.0 };
    }
    let window = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut free = vec![true; b.len()];
    let mut matched = Vec::new();
    for (index, letter) in a.iter().enumerate() {
        let near = index.saturating_sub(window)..b.len().min(index + window + 1);
        let found = near.into_iter().find(|at| free[*at] && b[*at] == *letter);
        if let Some(at) = found {
            free[at] = false;
            matched.push(*letter);
        }
    }
    let in_b = b.iter().zip(&free).filter(|(_, free)| !**free);
    let moved = in_b.zip(&matched).filter(|((x, _), y)| x != y).count();
    let (m, a, b) = (matched.len() as f64, a.len() as f64, b.len() as f64);
    match matched.is_empty() {
        true => 0.0,
        false => (m / a + m / b + (m - moved as f64 / 2.0) / m) / 3.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> f64 {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        similarity(&letters(a), &letters(b))
    }

    #[test]
    fn textbook_values() {
        assert_eq!(of("lod", "load"), 0.9166666666666666);
        assert_eq!(of("martha", "marhta"), 0.9444444444444445);
        assert_eq!(of("else", "select"), 0.7638888888888888);
        assert_eq!((of("", ""), of("a", ""), of("a", "a")), (0.0, 0.0, 1.0));
    }

    #[test]
    fn the_closest_name_if_it_is_close() {
        let close = |unknown: &str| closest(unknown.as_bytes(), ["field", "value"].into_iter(), 5);
        assert_eq!(close("feild"), Some("field"));
        assert_eq!(close("FIELD"), Some("field"));
        assert_eq!(close("val"), Some("value"));
        assert_eq!(close("comment"), None);
        assert_eq!(close(&"field".repeat(100_000)), None);
        assert_eq!(closest(b"fiel\xff", ["field"].into_iter(), 5), None);
    }
}
