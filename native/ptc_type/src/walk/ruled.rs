//! The rules of types: which of them a value breaks.

use super::super::constraint::number::Bound;
use super::super::constraint::{Constraints, Rule};
use super::super::findings::Wrong;
use super::super::values::{Class, Values};
use super::super::{Scalar, Type, TypeId};
use super::frame::ListFrame;
use super::{Place, Task, Walk, WalkEnd};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_term::value::Decimal;
use ptc_term::weight::Weighing;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};

/// Fuel for the rules of a value.
const RULES: usize = 4;
/// Bytes whose code points are counted for one unit of fuel, and bytes that are searched.
pub(super) const COUNTED: usize = 64;
const SEARCHED: usize = 4;
/// Up to this many items are compared each with each.
const FEW: usize = 8;

/// An item of a list, and the fuel to compare it.
type Item<H> = (<H as Heap>::Term, usize);

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
        if !self.heap.is_plainly(scalar, value) && !self.is_whole(scalar, rules, value) {
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

    fn broken_list(
        &mut self,
        constraints: &Constraints,
        value: H::Term,
    ) -> Result<Option<Rule>, WalkEnd> {
        if constraints.items.is_none() && !constraints.unique {
            return Ok(None);
        }
        let (mut rest, mut items) = (value, Vec::new());
        let mut count = 0;
        while let Some((item, tail)) = self.heap.uncons(rest) {
            self.consume_fuel(1)?;
            (rest, count) = (tail, count + 1);
            if constraints.unique {
                items.push(self.weighed(item)?);
            }
        }
        if let Some((least, most)) = constraints.items {
            if count < least {
                return Ok(Some(Rule::MinItems));
            }
            if count > most {
                return Ok(Some(Rule::MaxItems));
            }
        }
        if !constraints.unique {
            return Ok(None);
        }
        let repeats = match items.len() > FEW && items.iter().all(|(item, _)| self.is_exact(*item))
        {
            true => self.repeats_exactly(&items)?,
            false => None,
        };
        let repeats = match repeats {
            Some(repeats) => repeats,
            None => self.repeats(items)?,
        };
        match repeats {
            true => Ok(Some(Rule::Unique)),
            false => Ok(None),
        }
    }

    /// Returns whether a value is equal only to identical ones.
    fn is_exact(&self, item: H::Term) -> bool {
        matches!(
            self.heap.class(item),
            Class::Bitstring | Class::Integer | Class::Atom
        )
    }

    /// Returns whether two items are identical, by their hashes; `None` if two different ones have the same hash.
    fn repeats_exactly(&mut self, items: &[Item<H>]) -> Result<Option<bool>, WalkEnd> {
        let seed = RandomState::new().hash_one(items.len());
        let mut seen = HashMap::with_capacity(items.len());
        for (item, weight) in items {
            self.consume_fuel(2 + weight)?;
            let hash = self.heap.hash(*item, seed);
            if let Some(other) = seen.insert(hash, *item) {
                let is_same = self.heap.identical(other, *item);
                return Ok(is_same.then_some(true));
            }
        }
        Ok(Some(false))
    }

    /// Returns whether two items are equal, as `==` compares them.
    fn repeats(&mut self, mut items: Vec<Item<H>>) -> Result<bool, WalkEnd> {
        if items.len() <= FEW {
            for (index, item) in items.iter().enumerate() {
                for other in &items[..index] {
                    if self.order(*item, *other)?.is_eq() {
                        return Ok(true);
                    }
                }
            }
            return Ok(false);
        }
        // A comparison can take long, so the work can end between two of them.
        let mut sorted = Vec::with_capacity(items.len());
        let mut run = 1;
        while run < items.len() {
            sorted.clear();
            for pair in items.chunks(2 * run) {
                let (mut left, mut right) = pair.split_at(run.min(pair.len()));
                while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                    match self.order(*a, *b)? {
                        Ordering::Equal => return Ok(true),
                        Ordering::Less => {
                            sorted.push(*a);
                            left = left_rest;
                        }
                        Ordering::Greater => {
                            sorted.push(*b);
                            right = right_rest;
                        }
                    }
                }
                sorted.extend_from_slice(left);
                sorted.extend_from_slice(right);
            }
            std::mem::swap(&mut items, &mut sorted);
            run *= 2;
        }
        Ok(false)
    }

    /// Compares two items; the fuel is that of their size.
    fn order(&mut self, (a, weight): Item<H>, (b, other): Item<H>) -> Result<Ordering, WalkEnd> {
        self.consume_fuel(4 + weight.min(other))?;
        Ok(self.heap.compare(a, b))
    }

    /// Returns an item with the fuel to compare it.
    fn weighed(&mut self, term: H::Term) -> Result<Item<H>, WalkEnd> {
        let heap = &*self.heap;
        let weight = match heap.class(term) {
            Class::Bitstring => heap.byte_length(term).unwrap_or(0) / COUNTED,
            Class::Integer => heap.limbs(term),
            Class::Atom | Class::Float => 0,
            Class::List | Class::Map | Class::Other => {
                let mut weighing = Weighing::new([term], 0, usize::MAX);
                loop {
                    let mut meter = Meter::whole(self.meter.limits, self.pace);
                    match weighing.run(heap, &mut meter) {
                        Ok(()) => break weighing.words(),
                        Err(Stop::SliceOver) if self.pace == Pace::Quantum => {}
                        Err(Stop::SliceOver) => return Err(WalkEnd::TooLong),
                        Err(_) => return Err(WalkEnd::Abandoned),
                    }
                }
            }
        };
        self.consume_fuel(1 + weight)?;
        Ok((term, weight))
    }
}
