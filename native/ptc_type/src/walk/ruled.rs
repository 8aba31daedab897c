//! The rules of types: which of them a value breaks.

use super::super::constraint::number::Bound;
use super::super::constraint::{Constraints, Rule};
use super::super::findings::Wrong;
use super::super::values::{Class, Values};
use super::super::{Scalar, Type, TypeId};
use super::frame::ListFrame;
use super::{Place, Task, Walk, WalkEnd};
use ptc_term::number::Number;
use ptc_term::value::Decimal;
use std::convert::Infallible;

/// Fuel for the rules of a value.
const RULES: usize = 4;
/// Bytes whose code points are counted for one unit of fuel, and bytes that are searched.
pub(super) const COUNTED: usize = 64;
const SEARCHED: usize = 4;
impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Handles the value of a field whose type has rules and no parts.
    #[inline(never)]
    pub(super) fn ruled_field(
        &mut self,
        of: TypeId,
        rules: u32,
        value: H::Term,
        place: Place,
    ) -> Result<K::Done, WalkEnd> {
        match self.types.get(of) {
            Type::Scalar(scalar) => self.ruled(scalar, rules, value, Some(place)),
            _ => Ok(K::SAME),
        }
    }

    /// Handles a value of a type with rules and without parts.
    pub(super) fn ruled(
        &mut self,
        scalar: Scalar,
        rules: u32,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<K::Done, WalkEnd> {
        let other = match self.types.constraints(rules).converts() {
            true => K::by_rules(self, scalar, rules, value, place)?,
            false => None,
        };
        let (value, mut done) = match other {
            Some(other) => (other, K::made(other)),
            None => (value, K::SAME),
        };
        if !self.heap.is_plainly(scalar, value)
            && !self.is_whole(scalar, rules, value)
            && !self.is_between_floats(scalar, rules, value)
        {
            let before = (self.state.findings.count(), self.state.task.unanswered());
            let converted = K::scalar(self, scalar, value, place)?;
            let value = K::value(converted, value);
            if other.is_some() || !self.heap.same(value, K::value(done, value)) {
                done = K::made(value);
            } else {
                done = converted;
            }
            if before != (self.state.findings.count(), self.state.task.unanswered()) {
                return Ok(done);
            }
        }
        self.keeps(rules, K::value(done, value), place)?;
        Ok(done)
    }

    /// Returns whether a float is an integer by the rules.
    fn is_whole(&self, scalar: Scalar, rules: u32, value: H::Term) -> bool {
        scalar == Scalar::Int
            && self.types.constraints(rules).whole
            && self
                .heap
                .float(value)
                .is_some_and(|float| float.fract() == 0.0)
    }

    /// Handles the rules of a list at its end, with what it has become.
    #[inline(never)]
    pub(super) fn ruled_list(
        &mut self,
        rules: u32,
        (value, done): (H::Term, K::Done),
        list: &ListFrame<K::Mark>,
        is_proper: bool,
    ) -> Result<(), WalkEnd> {
        if !is_proper || self.state.findings.count() != list.findings {
            return Ok(());
        }
        if !self.keeps(rules, K::value(done, value), None)? {
            self.memo.forget(|| self.heap.identity(value), list.id);
        }
        Ok(())
    }

    /// Returns whether a value keeps the rules; reports the first one that it breaks.
    pub(super) fn keeps(
        &mut self,
        rules: u32,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<bool, WalkEnd> {
        self.consume_fuel(RULES)?;
        let Some(rule) = self.broken(rules, value)? else {
            return Ok(true);
        };
        let list = self.state.rules[rules as usize];
        let pair = rule.pair(&*self.heap, list).unwrap_or(list);
        let kept = self.heap.make_tuple(&[pair, value]);
        self.report(place, Wrong::Rule, Some(kept))?;
        Ok(false)
    }

    fn broken(&mut self, rules: u32, value: H::Term) -> Result<Option<Rule>, WalkEnd> {
        let types = self.types;
        let constraints = types.constraints(rules);
        let class = self.heap.class(value);
        let broken = match class {
            Class::Integer | Class::Float | Class::Map => self.broken_number(constraints, value)?,
            Class::Bitstring if constraints.decimals => self.broken_number(constraints, value)?,
            Class::Bitstring if constraints.checks_text() && self.heap.is_binary(value) => {
                self.broken_text(constraints, value)?
            }
            _ => None,
        };
        if broken.is_some() {
            return Ok(broken);
        }
        if let Some(values) = &constraints.enumeration {
            if !self.is_among(values, rules, value)? {
                return Ok(Some(Rule::Enum));
            }
        }
        match class {
            Class::List => self.broken_list(constraints, value),
            _ => Ok(None),
        }
    }

    fn broken_number(
        &mut self,
        constraints: &Constraints,
        value: H::Term,
    ) -> Result<Option<Rule>, WalkEnd> {
        if constraints.bounds.is_empty() && constraints.multiple_of.is_none() {
            return Ok(None);
        }
        let bound = match self.heap.small_integer(value) {
            Some(small) => Bound::Number(Number::Int(small)),
            None => {
                let limbs = self.heap.limbs(value);
                let squared = constraints
                    .multiple_of
                    .as_ref()
                    .map_or(0, |_| limbs * limbs / 16);
                self.consume_fuel(20 + limbs + squared)?;
                let text = self.heap.bytes(value).filter(|_| constraints.decimals);
                let bound = match text {
                    Some(text) => Decimal::read(text).map(Bound::Decimal),
                    None => Bound::of(&*self.heap, value),
                };
                match bound {
                    Some(bound) => bound,
                    None => return Ok(None),
                }
            }
        };
        for (rule, limit) in &constraints.bounds {
            if !rule.keeps(bound.order(limit)) {
                return Ok(Some(*rule));
            }
        }
        let divides = |unit: &Bound| bound.is_multiple_of(unit);
        let broken = !constraints.multiple_of.as_ref().is_none_or(divides);
        Ok(broken.then_some(Rule::MultipleOf))
    }

    fn broken_text(
        &mut self,
        constraints: &Constraints,
        value: H::Term,
    ) -> Result<Option<Rule>, WalkEnd> {
        let length = self.heap.byte_length(value).unwrap_or(0);
        let copied = self.heap.bytes_to_copy(value);
        let reads = constraints.pattern.is_some() || constraints.format.is_some();
        let searched = if reads { length / SEARCHED } else { 0 };
        self.consume_fuel(1 + copied / COUNTED + length / COUNTED + searched)?;
        let text = self.heap.bytes(value).unwrap_or_default();
        if let Some((least, most)) = constraints.length {
            // A code point has up to four bytes.
            let (bytes, quarter) = (text.len() as u64, text.len().div_ceil(4) as u64);
            if bytes < least {
                return Ok(Some(Rule::MinLength));
            }
            if quarter > most {
                return Ok(Some(Rule::MaxLength));
            }
            if quarter < least || bytes > most {
                let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
                let points = text.iter().filter(is_first).count() as u64;
                if points < least {
                    return Ok(Some(Rule::MinLength));
                }
                if points > most {
                    return Ok(Some(Rule::MaxLength));
                }
            }
        }
        if let Some(pattern) = &constraints.pattern {
            let count = |_| Ok::<(), Infallible>(());
            let Ok(found) = match pattern.is_short(text.len()) {
                true => pattern.is_in_short(text, count),
                false => pattern.is_in_long(text, &mut Default::default(), count),
            };
            if !found {
                return Ok(Some(Rule::Pattern));
            }
        }
        let has = constraints.format.is_none_or(|format| format.has(text));
        Ok((!has).then_some(Rule::Format))
    }
}
