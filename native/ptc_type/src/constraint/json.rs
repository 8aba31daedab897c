//! The rules of a type over a JSON value that is not built, as far as its text decides: for streams.

use super::number::Bound;
use super::{Constraints, Enumeration, Rule, LONGEST_NUMBER};
use ptc_term::number::Number;
use ptc_term::value::Decimal;

/// A JSON value without parts, as it is written.
#[derive(Debug, Clone, Copy)]
pub enum Written<'t> {
    /// The content of a string without escapes.
    Text(&'t [u8]),
    /// A number.
    Number(&'t [u8]),
    /// `true`, `false`, or `nil` for `null`.
    Name(&'t [u8]),
}

/// The values of an enumeration that are not all texts, by their kinds.
#[derive(Debug, Default)]
pub struct Members {
    /// The texts.
    pub texts: Vec<Box<[u8]>>,
    /// The names of the atoms.
    pub names: Vec<Box<[u8]>>,
    /// The integers and floats.
    pub numbers: Vec<Bound>,
    /// Whether there are values of other kinds.
    pub others: bool,
}

impl Members {
    fn len(&self) -> usize {
        self.texts.len() + self.names.len() + self.numbers.len()
    }

    /// Returns whether an atom has this name.
    pub fn has_name(&self, name: &[u8]) -> bool {
        self.names.iter().any(|other| **other == *name)
    }

    fn has_text(&self, text: &[u8]) -> bool {
        self.texts.iter().any(|other| **other == *text)
    }
}

impl Constraints {
    /// Returns whether a value certainly breaks a rule. Takes the cost from `budget`; if that is not enough, nothing is
    /// certain.
    pub fn refuse(&self, value: Written, budget: &mut usize) -> bool {
        match value {
            Written::Text(text) if self.decimals => {
                text.len() <= LONGEST_NUMBER
                    && Decimal::read(text.trim_ascii())
                        .is_some_and(|number| self.refuse_bound(&Bound::Decimal(number)))
            }
            Written::Text(text) => {
                self.refuse_length(text)
                    || self.refuse_pattern(text, budget)
                    || self.format.is_some_and(|format| !format.has(text))
                    || self.is_no_member(value, budget)
            }
            Written::Number(_) => {
                self.number(value)
                    .is_some_and(|number| self.refuse_bound(&number))
                    || !self.decimals && self.is_no_member(value, budget)
            }
            Written::Name(_) => self.is_no_member(value, budget),
        }
    }

    fn number(&self, value: Written) -> Option<Bound> {
        match number_of(value)? {
            number if self.decimals => Decimal::of_number(number).map(Bound::Decimal),
            number => Some(Bound::Number(number)),
        }
    }

    fn refuse_bound(&self, number: &Bound) -> bool {
        let breaks = |(rule, bound): &(Rule, Bound)| !rule.keeps(number.order(bound));
        let divides = |unit: &Bound| number.is_multiple_of(unit);
        self.bounds.iter().any(breaks) || !self.multiple_of.as_ref().is_none_or(divides)
    }

    fn refuse_length(&self, text: &[u8]) -> bool {
        self.length.is_some_and(|(least, most)| {
            let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
            let points = text.iter().filter(is_first).count() as u64;
            points < least || points > most
        })
    }

    pub(super) fn refuse_pattern(&self, text: &[u8], budget: &mut usize) -> bool {
        let Some(pattern) = &self.pattern else {
            return false;
        };
        let count = |cost| {
            budget
                .checked_sub(cost)
                .map(|left| *budget = left)
                .ok_or(())
        };
        pattern.is_short(text.len()) && pattern.is_in_short(text, count) == Ok(false)
    }

    /// Returns whether a value is certainly not one of the enumeration.
    pub(super) fn is_no_member(&self, value: Written, budget: &mut usize) -> bool {
        let Some(values) = &self.enumeration else {
            return false;
        };
        let members = match (values, value) {
            (Enumeration::Terms(members), _) => members,
            (values, Written::Text(text) | Written::Name(text)) => {
                return values.has(text) == Some(false)
            }
            (_, Written::Number(_)) => return true,
        };
        let Some(left) = budget.checked_sub(members.len()) else {
            return false;
        };
        *budget = left;
        if members.others {
            return false;
        }
        match value {
            Written::Text(text) => {
                !(members.has_text(text) || self.keywords && members.has_name(text))
            }
            Written::Name(name) => !members.has_name(name),
            Written::Number(_) => number_of(value).map(Bound::Number).is_some_and(|number| {
                let is = |other: &Bound| number.order(other).is_eq();
                !members.numbers.iter().any(is)
            }),
        }
    }
}

/// Returns the number that a text is in JSON; `None` if it is long or infinite.
pub fn number_of(value: Written) -> Option<Number> {
    let Written::Number(text) = value else {
        return None;
    };
    if text.len() > LONGEST_NUMBER {
        return None;
    }
    match text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'-')
    {
        true => Some(Number::from_digits(text)),
        false => {
            let float: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
            float.is_finite().then_some(Number::Float(float))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(rules: &Constraints, value: Written) -> bool {
        rules.refuse(value, &mut 1_000)
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let int = |value| Bound::Number(Number::Int(value));
        let rules = Constraints {
            bounds: vec![(Rule::Min, int(1)), (Rule::ExclusiveMax, int(10))],
            multiple_of: Some(Bound::Number(Number::Float(0.1))),
            ..Constraints::default()
        };
        for (text, refused) in [
            ("0", true),
            ("-0", true),
            ("1", false),
            ("9.9", false),
            ("9.99", true),
            ("1e1", true),
            ("99999999999999999999", true),
            ("1e999", false),
        ] {
            let value = Written::Number(text.as_bytes());
            assert_eq!(refuse(&rules, value), refused, "{text}");
        }
    }

    #[test]
    fn what_the_budget_does_not_cover_is_not_refused() {
        let names = (0..50)
            .map(|n| format!("n{n}").into_bytes().into())
            .collect();
        let members = Members {
            names,
            ..Members::default()
        };
        let rules = Constraints {
            enumeration: Some(Enumeration::Terms(Box::new(members))),
            keywords: true,
            ..Constraints::default()
        };
        let mut budget = 60;
        assert!(rules.refuse(Written::Text(b"x"), &mut budget));
        assert!(!rules.refuse(Written::Text(b"x"), &mut budget));
        assert!(!refuse(&rules, Written::Text(b"n7")));
        assert!(refuse(&rules, Written::Number(b"7")));
    }
}
