//! Whether a text can be read in place.
//!
//! What a program reads of a text is found in constant time, or in a time that is counted before. A few texts have values for which
//! that is not so: integers of thousands of digits, strings of many kilobytes, and objects with so many members that they
//! must be searched by their keys. Such a text is decoded instead.

use ptc_index::Index;

/// Maximum number of members of an object that is read in place.
const MOST_MEMBERS: usize = 1_000;
/// Maximum number of bytes of a string that is read in place, with the white space behind it.
const LONGEST: usize = 65_536;
/// Maximum number of bytes of a number.
const LONGEST_NUMBER: usize = 1_000;

/// Returns whether the text can be read in place.
pub fn fits(index: &Index) -> bool {
    let largest = index.largest();
    largest.members <= MOST_MEMBERS && largest.token <= LONGEST && largest.number <= LONGEST_NUMBER
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_index::Indexer;

    fn is_fit(text: &str) -> bool {
        let mut indexer = Indexer::new(text.len(), 100_000).unwrap();
        let index = indexer.step(text.as_bytes(), usize::MAX).unwrap().unwrap();
        fits(&index)
    }

    #[test]
    fn ordinary_texts_are_read_in_place() {
        for text in ["1", "[]", "{}", r#"{"a":[1,{"b":null}]}"#] {
            assert!(is_fit(text), "{text}");
        }
        assert!(is_fit(&format!("[{}0]", r#"{"a":1},"#.repeat(5_000))));
        assert!(is_fit(&format!(
            "{}{}",
            "[".repeat(9_000),
            "]".repeat(9_000)
        )));
    }

    #[test]
    fn long_and_wide_values_are_not() {
        let members = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":[]")).collect();
            format!("[1,{{{}}}]", members.join(","))
        };
        assert!(is_fit(&members(MOST_MEMBERS)));
        assert!(!is_fit(&members(MOST_MEMBERS + 1)));
        assert!(!is_fit(&format!("[{:?}]", "x".repeat(LONGEST))));
        assert!(!is_fit(&format!("[{}]", "1".repeat(LONGEST_NUMBER + 1))));
    }
}
