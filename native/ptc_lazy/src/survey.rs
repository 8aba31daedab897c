//! Whether a text can be read in place.
//!
//! What a program reads of a text is found in constant time, or in a time that is counted before. A few texts have values for which
//! that is not so: integers of thousands of digits, strings of many kilobytes, and objects with so many members that they
//! must be searched by their keys. Such a text is decoded instead.

use ptc_index::{Node, Tree};

/// Maximum number of members of an object that is read in place.
const MOST_MEMBERS: u32 = 1_000;
/// Maximum number of bytes of a string or a number that is read in place, with the white space behind it.
const LONGEST: Node = 65_536;
/// The same for a number.
const LONGEST_NUMBER: Node = 1_000;
/// Tokens that are looked at between two looks at the clock.
pub const TOKENS: usize = 1_024;

/// A walk over the tokens of a text. It is plain data, so that it can stop and continue anywhere.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The offset of the next token.
    at: Option<Node>,
    /// The tokens directly inside each open container, and whether it is an object.
    open: Vec<(u32, bool)>,
}

impl Survey {
    /// Begins at the start of the text.
    pub fn new(tree: Tree) -> Self {
        Survey {
            at: Some(tree.root()),
            open: Vec::new(),
        }
    }

    /// Looks at up to [`TOKENS`] tokens. Returns whether the text can be read in place, once that is known.
    pub fn step(&mut self, tree: Tree) -> Option<bool> {
        let text = tree.text();
        for _ in 0..TOKENS {
            let Some(at) = self.at else {
                return Some(true);
            };
            let byte = text.get(at as usize).copied().unwrap_or_default();
            let next = tree.next_token(at);
            let length = next.unwrap_or(text.len() as Node).saturating_sub(at);
            self.at = next;
            if matches!(byte, b']' | b'}') {
                self.open.pop();
                continue;
            }
            if let Some((tokens, is_object)) = self.open.last_mut() {
                *tokens += 1;
                if *is_object && *tokens > 2 * MOST_MEMBERS {
                    return Some(false);
                }
            }
            match byte {
                b'[' | b'{' => self.open.push((0, byte == b'{')),
                b'"' if length > LONGEST => return Some(false),
                b'-' | b'0'..=b'9' if length > LONGEST_NUMBER => return Some(false),
                _ => {}
            }
        }
        None
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.open.capacity() * size_of::<(u32, bool)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_index::Indexer;

    fn fits(text: &str) -> bool {
        let mut indexer = Indexer::new(text.len(), 100_000).unwrap();
        let index = indexer.step(text.as_bytes(), usize::MAX).unwrap().unwrap();
        let tree = Tree::new(text.as_bytes(), &index);
        let mut survey = Survey::new(tree);
        loop {
            if let Some(fits) = survey.step(tree) {
                return fits;
            }
        }
    }

    #[test]
    fn ordinary_texts_are_read_in_place() {
        for text in ["1", "[]", "{}", r#"{"a":[1,{"b":null}]}"#] {
            assert!(fits(text), "{text}");
        }
        assert!(fits(&format!("[{}0]", r#"{"a":1},"#.repeat(5_000))));
        assert!(fits(&format!("{}{}", "[".repeat(9_000), "]".repeat(9_000))));
    }

    #[test]
    fn long_and_wide_values_are_not() {
        let members = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":[]")).collect();
            format!("[1,{{{}}}]", members.join(","))
        };
        assert!(fits(&members(MOST_MEMBERS as usize)));
        assert!(!fits(&members(MOST_MEMBERS as usize + 1)));
        assert!(!fits(&format!("[{:?}]", "x".repeat(LONGEST as usize))));
        assert!(!fits(&format!(
            "[{}]",
            "1".repeat(LONGEST_NUMBER as usize + 1)
        )));
    }
}
