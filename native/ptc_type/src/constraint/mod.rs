//! The rules beside a type: bounds, lengths, patterns, formats, enumerations, defaults.
//!
//! * this file: the rules of one type; `read`: from their keyword list
//! * `number`: exact bounds and multiples; `format`: formats of texts; `pattern`: compiled patterns
//! * `json`: the rules over JSON values that are not built
//!
//! The walk checks them (`walk/ruled.rs`); values that are terms stay in the keyword list.

pub mod format;
pub mod json;
pub mod number;
mod pattern;
mod read;

use format::Format;
use json::{Members, Written};
use number::Bound;
use ptc_term::heap::Heap;
use ptc_term::value::Decimal;
use ptc_text::Pattern;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// Longer numbers are not compared while a text is repaired, in bytes.
const LONGEST_NUMBER: usize = 400;
/// Larger enumerations of numbers are not searched while a text is repaired, and texts are not searched for patterns that
/// take longer.
const MEMBERS: usize = 1_000;

/// A rule of a type. Rules are checked in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// `min: 0`
    Min,
    /// `max: 9`
    Max,
    /// `exclusive_min: 0`
    ExclusiveMin,
    /// `exclusive_max: 9`
    ExclusiveMax,
    /// `multiple_of: 5`
    MultipleOf,
    /// `min_length: 1`, in code points
    MinLength,
    /// `max_length: 9`, in code points
    MaxLength,
    /// `pattern: "^a"`
    Pattern,
    /// `format: :date`
    Format,
    /// `enum: ["a", "b"]`
    Enum,
    /// `ignore_case: true`
    IgnoreCase,
    /// `aliases: %{"x" => "a"}`
    Aliases,
    /// `default: "a"`
    Default,
    /// `description: "…"`
    Description,
    /// `unique: true`
    Unique,
    /// `min_items: 1`
    MinItems,
    /// `max_items: 9`
    MaxItems,
    /// `yes_no: true`
    YesNo,
    /// `struct: true`
    Struct,
    /// `whole: true`
    Whole,
}

impl Rule {
    /// All rules with the names of their keys.
    pub const ALL: [(Rule, &'static [u8]); 20] = [
        (Rule::Min, b"min"),
        (Rule::Max, b"max"),
        (Rule::ExclusiveMin, b"exclusive_min"),
        (Rule::ExclusiveMax, b"exclusive_max"),
        (Rule::MultipleOf, b"multiple_of"),
        (Rule::MinLength, b"min_length"),
        (Rule::MaxLength, b"max_length"),
        (Rule::Pattern, b"pattern"),
        (Rule::Format, b"format"),
        (Rule::Enum, b"enum"),
        (Rule::IgnoreCase, b"ignore_case"),
        (Rule::Aliases, b"aliases"),
        (Rule::Default, b"default"),
        (Rule::Description, b"description"),
        (Rule::Unique, b"unique"),
        (Rule::MinItems, b"min_items"),
        (Rule::MaxItems, b"max_items"),
        (Rule::YesNo, b"yes_no"),
        (Rule::Struct, b"struct"),
        (Rule::Whole, b"whole"),
    ];

    /// Returns the rule with this key.
    pub fn named(name: &[u8]) -> Option<Rule> {
        let found = Rule::ALL.iter().find(|(_, key)| *key == name);
        found.map(|(rule, _)| *rule)
    }

    /// Returns whether a number with this order to the bound keeps the rule, which is one about bounds.
    #[inline]
    pub fn keeps(self, order: Ordering) -> bool {
        match self {
            Rule::Min => order.is_ge(),
            Rule::Max => order.is_le(),
            Rule::ExclusiveMin => order.is_gt(),
            _ => order.is_lt(),
        }
    }

    fn key(self) -> &'static [u8] {
        Rule::ALL[self as usize].1
    }

    /// Returns the pair of this rule in a keyword list: its key and its value.
    pub fn pair<H: Heap>(self, heap: &H, mut rules: H::Term) -> Option<H::Term> {
        while let Some((pair, rest)) = heap.uncons(rules) {
            if let Some([key, _]) = heap.elements(pair) {
                if heap.is_name(*key) && heap.with_name(*key, |name| name == self.key()) {
                    return Some(pair);
                }
            }
            rules = rest;
        }
        None
    }

    /// Returns the value of this rule in a keyword list.
    pub fn value<H: Heap>(self, heap: &H, rules: H::Term) -> Option<H::Term> {
        let pair = self.pair(heap, rules)?;
        heap.elements(pair)?.get(1).copied()
    }
}

/// The places of texts in an enumeration.
pub type Places = HashMap<Box<[u8]>, u32>;

/// The values of an enumeration.
#[derive(Debug)]
pub enum Enumeration {
    /// Texts, and how many bytes they have.
    Few(Vec<Box<[u8]>>),
    /// Many texts, with their places.
    Many(Places),
    /// Values of any kind, which are compared as terms.
    Terms(Box<Members>),
}

impl Enumeration {
    /// Returns whether a text is one of the values; `None` if they are compared as terms.
    #[inline]
    pub fn has(&self, text: &[u8]) -> Option<bool> {
        match self {
            Enumeration::Few(texts) => Some(texts.iter().any(|other| &**other == text)),
            Enumeration::Many(texts) => Some(texts.contains_key(text)),
            Enumeration::Terms(_) => None,
        }
    }
}

/// The rules of one type.
#[derive(Debug, Default)]
pub struct Constraints {
    /// `min`, `max`, `exclusive_min`, `exclusive_max`
    pub bounds: Vec<(Rule, Bound)>,
    /// `multiple_of`
    pub multiple_of: Option<Bound>,
    /// `min_length` and `max_length`, in code points.
    pub length: Option<(u64, u64)>,
    /// `pattern`
    pub pattern: Option<Arc<Pattern>>,
    /// `format`
    pub format: Option<Format>,
    /// `enum`
    pub enumeration: Option<Enumeration>,
    /// By their texts in lower case, the places of the values with `ignore_case`.
    pub folded: Option<Places>,
    /// Whether there are `aliases`.
    pub aliases: bool,
    /// Whether there is a `default`.
    pub default: bool,
    /// `unique`
    pub unique: bool,
    /// `min_items` and `max_items`.
    pub items: Option<(u64, u64)>,
    /// `yes_no`
    pub yes_no: bool,
    /// `whole`: a float without fraction is an integer.
    pub whole: bool,
    /// Texts are decimals.
    pub decimals: bool,
    /// Texts are names of atoms.
    pub keywords: bool,
}

impl Constraints {
    /// Returns whether coercion changes values by these rules, before it looks at the type.
    pub fn converts(&self) -> bool {
        self.folded.is_some() || self.aliases || self.yes_no || self.whole
    }

    /// Returns whether a text, as JSON has it, breaks the enumeration or the pattern. Other spellings that coercion takes are no break.
    pub fn refuse_text(&self, text: &[u8]) -> bool {
        let is_other = |values: &Enumeration| values.has(text) == Some(false);
        let is_spelling = |places: &Places| places.contains_key(&folded(text));
        self.enumeration.as_ref().is_some_and(is_other)
            && !self.aliases
            && !self.folded.as_ref().is_some_and(is_spelling)
            || !self.decimals && self.refuse_pattern(text, &mut { MEMBERS })
    }

    /// Returns whether a number, as JSON has it, is out of the bounds or not in the enumeration.
    pub fn refuse_number(&self, text: &[u8]) -> bool {
        if text.len() > LONGEST_NUMBER {
            return false;
        }
        let breaks =
            |(rule, bound): &(Rule, Bound), number: &Bound| !rule.keeps(number.order(bound));
        let number = match self.bounds.is_empty() {
            true => None,
            false => Decimal::read(text).map(Bound::Decimal),
        };
        number.is_some_and(|number| self.bounds.iter().any(|bound| breaks(bound, &number)))
            || !self.decimals && self.is_no_member(Written::Number(text), &mut { MEMBERS })
    }

    /// Returns whether texts are checked.
    pub fn checks_text(&self) -> bool {
        self.length.is_some() || self.pattern.is_some() || self.format.is_some()
    }
}

/// Calls `read` with a text or the name of an atom.
pub(crate) fn name_of<H: Heap, R>(
    heap: &H,
    value: H::Term,
    read: impl FnOnce(&[u8]) -> R,
) -> Option<R> {
    match heap.is_name(value) {
        true => Some(heap.with_name(value, read)),
        false => heap.bytes(value).map(read),
    }
}

/// Returns a text in lower case, as `ignore_case` compares it.
pub fn folded(text: &[u8]) -> Box<[u8]> {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_lowercase().into_bytes().into(),
        Err(_) => text.to_ascii_lowercase().into(),
    }
}
