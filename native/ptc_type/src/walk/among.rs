//! Whether a value is one of an enumeration, and whether it stays as it is for the rules of numbers.

use super::super::constraint::number::Bound;
use super::super::constraint::{Enumeration, Rule};
use super::super::values::{Class, Values};
use super::super::Scalar;
use super::ruled::COUNTED;
use super::{Task, Walk, WalkEnd};
use ptc_term::number::Number;

/// Fuel to read a decimal and compare it.
const DECIMAL: usize = 20;
/// The 64-bit limbs of the largest integer that can become a float.
const LIMBS: usize = 16;

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Returns whether a value is one of an enumeration. An atom is a text there, numbers are compared with `==`, and decimals as
    /// numbers.
    pub(super) fn is_among(
        &mut self,
        values: &Enumeration,
        rules: u32,
        value: H::Term,
    ) -> Result<bool, WalkEnd> {
        let length = self.heap.byte_length(value).unwrap_or(0);
        self.consume_fuel((length + self.heap.bytes_to_copy(value)) / COUNTED)?;
        if self.types.constraints(rules).decimals {
            return self.is_among_decimals(rules, value);
        }
        let name = match self.heap.class(value) {
            Class::Map => self.heap.keyword_name(value),
            _ => None,
        };
        let known = match self.heap.bytes(name.unwrap_or(value)) {
            Some(text) => values.has(text),
            None if self.heap.is_name(value) => self.heap.with_name(value, |name| values.has(name)),
            None => match values {
                Enumeration::Terms(_) => None,
                _ => Some(false),
            },
        };
        // A text that is the name of an atom, where texts are names.
        if let (Enumeration::Terms(members), true) =
            (values, self.types.constraints(rules).keywords)
        {
            let is_name = |text: &[u8]| members.has_name(text);
            if self.heap.bytes(name.unwrap_or(value)).is_some_and(is_name) {
                return Ok(true);
            }
        }
        if let Some(known) = known {
            return Ok(known);
        }
        let list = self.state.rules[rules as usize];
        let mut rest = Rule::Enum.value(&*self.heap, list).unwrap_or(list);
        while let Some((member, tail)) = self.heap.uncons(rest) {
            self.consume_fuel(2)?;
            if self.heap.equal(member, value) {
                return Ok(true);
            }
            rest = tail;
        }
        Ok(false)
    }

    /// Returns whether a decimal is one of an enumeration: the same number, in any form.
    fn is_among_decimals(&mut self, rules: u32, value: H::Term) -> Result<bool, WalkEnd> {
        self.consume_fuel(DECIMAL + self.heap.limbs(value))?;
        let Some(number) = Bound::of_decimal(&*self.heap, value) else {
            return Ok(false);
        };
        let list = self.state.rules[rules as usize];
        let mut rest = Rule::Enum.value(&*self.heap, list).unwrap_or(list);
        while let Some((member, tail)) = self.heap.uncons(rest) {
            let length = self.heap.byte_length(member).unwrap_or(0) / COUNTED;
            self.consume_fuel(DECIMAL + length + self.heap.limbs(member))?;
            let member = Bound::of_decimal(&*self.heap, member);
            if member.is_some_and(|member| member.order(&number).is_eq()) {
                return Ok(true);
            }
            rest = tail;
        }
        Ok(false)
    }

    /// Returns whether an integer stays an integer where a float is declared: any one by the rule, and one that no float is equal to if
    /// other rules restrict it, because they hold for the number that was given.
    pub(super) fn is_between_floats(&self, scalar: Scalar, rules: u32, value: H::Term) -> bool {
        let restricts = || {
            let constraints = self.types.constraints(rules);
            !constraints.bounds.is_empty()
                || constraints.multiple_of.is_some()
                || constraints.enumeration.is_some()
        };
        if scalar != Scalar::Float || self.heap.class(value) != Class::Integer {
            return false;
        }
        if !restricts() {
            return false;
        }
        if let Some(small) = self.heap.small_integer(value) {
            return small as f64 as i128 != i128::from(small);
        }
        if self.heap.limbs(value) > LIMBS {
            return false;
        }
        let Some(number) = self.heap.number(value) else {
            return false;
        };
        let float = number.to_float().ok();
        float.is_some_and(|float| Number::of_whole(float).is_some_and(|whole| whole != number))
    }
}
