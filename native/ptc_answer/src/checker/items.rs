//! What is known of the items of a list with rules, and of the keys of a map with any keys.

use ptc_term::names::underscored;
use ptc_term::number::Number;
use ptc_type::constraint::json::{number_of, Written};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// A longer text is not compared with the other items, in bytes.
const LONGEST_ITEM: usize = 1_024;

/// The rules of a list.
#[derive(Debug)]
pub(super) struct ItemRules {
    /// The least number of items.
    pub least: u64,
    /// The largest number of items.
    pub most: u64,
    /// The items so far, if they must be different.
    pub unique: Option<HashSet<Vec<u8>>>,
}

impl ItemRules {
    /// Returns whether an item is equal to an earlier one; false where that is not certain.
    pub fn repeats(&mut self, item: Written) -> bool {
        let Some(items) = &mut self.unique else {
            return false;
        };
        form(item).is_some_and(|form| !items.insert(form))
    }
}

/// Returns bytes that are equal for equal values without parts.
fn form(item: Written) -> Option<Vec<u8>> {
    let (kind, text) = match item {
        Written::Text(text) if text.len() > LONGEST_ITEM => return None,
        Written::Text(text) => (b'"', text.to_vec()),
        Written::Name(name) => (b':', name.to_vec()),
        Written::Number(_) => {
            let number = match number_of(item)? {
                Number::Float(float) if float.fract() == 0.0 => Number::of_whole(float)?,
                number => number,
            };
            (b'0', format!("{number:?}").into_bytes())
        }
    };
    Some([&[kind], &text[..]].concat())
}

/// The keys of a map with any keys.
#[derive(Debug, Default)]
pub(super) struct AnyKeys {
    /// The last key.
    pub last: Vec<u8>,
    /// Whether its value counts: of equal keys the first one does.
    pub counts: bool,
    /// A key could not be compared: any later key may be its duplicate.
    unsure: bool,
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl AnyKeys {
    /// Handles a key; `None` if it has escapes. `whole`: also one with hyphens counts at once.
    pub fn pass(&mut self, key: Option<&[u8]>, whole: bool) {
        let Some(key) = key else {
            (self.unsure, self.counts) = (true, false);
            return;
        };
        self.last.clear();
        self.last.extend_from_slice(key);
        let is_new = self.seen.insert(self.hasher.hash_one(underscored(key)));
        self.counts = is_new && !self.unsure && (whole || !key.contains(&b'-'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_have_one_form() {
        let number = |text: &'static str| form(Written::Number(text.as_bytes()));
        assert_eq!(number("1"), number("1.0"));
        assert_eq!(number("-0"), number("0.0"));
        assert_eq!(number("1e22"), number("10000000000000000000000"));
        assert_ne!(number("9007199254740993"), number("9007199254740992.0"));
        assert_ne!(number("1"), form(Written::Text(b"1")));
        assert_eq!(number("1e999"), None);
    }

    #[test]
    fn the_first_of_equal_keys_counts() {
        let mut keys = AnyKeys::default();
        for (key, counts) in [("a", true), ("a", false), ("a-b", false), ("a_b", false)] {
            keys.pass(Some(key.as_bytes()), false);
            assert_eq!(keys.counts, counts, "{key}");
        }
        keys.pass(None, false);
        keys.pass(Some(b"new"), false);
        assert!(!keys.counts);
    }
}
