//! Comparing and hashing terms that contain dates, times or decimals, see [`crate::value`].
//!
//! First the terms are searched for values, which gives the kinds of values at each position: the name
//! of the innermost field, or the top. A text or a number at a position that has values is read as
//! such a value, so that all terms of a position have one order and one hash. Terms without values
//! are left to the heap.

use super::cost::HASH;
use super::machine::Machine;
use crate::fault::Halt;
use crate::heap::{Heap, Inside, Kind};
use crate::value::{mix, Coefficient, Decimal, Form, KindSet, Meaning, Value};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The position of terms that are in no field.
const TOP: u64 = 0;
/// The seed of hashes of field names. A collision puts two fields into one position.
const NAMES: u64 = 1;

/// The kinds of values at each position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kinds(HashMap<u64, KindSet>);

impl Kinds {
    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the kinds of the terms themselves.
    pub fn at_top(&self) -> KindSet {
        self.0.get(&TOP).copied().unwrap_or_default()
    }

    /// Returns the kinds at the position below this field.
    fn below<H: Heap>(&self, heap: &H, field: Option<H::Term>) -> KindSet {
        self.0
            .get(&position(heap, field))
            .copied()
            .unwrap_or_default()
    }

    fn add(&mut self, position: u64, kinds: KindSet) {
        let here = self.0.entry(position).or_default();
        *here = here.with(kinds);
    }
}

fn position<H: Heap>(heap: &H, field: Option<H::Term>) -> u64 {
    field.map_or(TOP, |field| heap.hash(field, NAMES) | 1)
}

/// Returns the meaning of a term at a position with values of these kinds.
fn meaning<H: Heap>(heap: &H, term: H::Term, kinds: KindSet) -> Option<Meaning> {
    match heap.kind(term) {
        Kind::Map if heap.form(term) == Form::Value => Meaning::of_value(heap, heap.value(term)),
        _ if kinds.is_empty() => None,
        kind => Meaning::among(heap, term, kind, kinds),
    }
}

/// Returns the order of two terms by their meaning; `Equal` is `==`, or `===` if `strict`.
pub(crate) fn order<H: Heap>(
    heap: &H,
    kinds: &Kinds,
    a: H::Term,
    b: H::Term,
    strict: bool,
) -> Ordering {
    let mut todo = vec![(a, b, None)];
    while let Some((a, b, field)) = todo.pop() {
        if heap.identity(a) == heap.identity(b) {
            continue;
        }
        let here = kinds.below(heap, field);
        let (x, y) = (meaning(heap, a, here), meaning(heap, b, here));
        let of = (heap.kind(a), heap.kind(b));
        if let Some(order) = Meaning::order_of((x.as_ref(), of.0), (y.as_ref(), of.1)) {
            match order {
                Ordering::Equal => continue,
                order => return order,
            }
        }
        let order = match of {
            (Kind::List, Kind::List) => match (heap.uncons(a), heap.uncons(b)) {
                (Some((head_a, tail_a)), Some((head_b, tail_b))) => {
                    todo.extend([(tail_a, tail_b, field), (head_a, head_b, field)]);
                    continue;
                }
                _ => heap.compare(a, b),
            },
            (Kind::Map, Kind::Map) => {
                let (a, b) = (sorted(heap, a), sorted(heap, b));
                let keys = a
                    .iter()
                    .zip(&b)
                    .map(|((a, _), (b, _))| key_order(heap, *a, *b));
                let order = a.len().cmp(&b.len());
                let order = order.then_with(|| keys.fold(Ordering::Equal, Ordering::then));
                if order.is_eq() {
                    let pairs = a.iter().zip(&b).rev();
                    todo.extend(pairs.map(|((key, a), (_, b))| (*a, *b, Some(*key))));
                    continue;
                }
                order
            }
            (Kind::Other, Kind::Other) => match (heap.inside(a), heap.inside(b)) {
                (Inside::Elements(a), Inside::Elements(b)) if a.len() == b.len() => {
                    let pairs = a.iter().zip(b).rev();
                    todo.extend(pairs.map(|(a, b)| (*a, *b, field)));
                    continue;
                }
                _ => heap.compare(a, b),
            },
            _ => heap.compare(a, b),
        };
        match order {
            Ordering::Equal if strict && !heap.identical(a, b) => return Ordering::Less,
            Ordering::Equal => {}
            order => return order,
        }
    }
    Ordering::Equal
}

/// Returns the entries of a map in the order in which maps are compared.
fn sorted<H: Heap>(heap: &H, map: H::Term) -> Vec<(H::Term, H::Term)> {
    let mut entries = heap.entries(map);
    entries.sort_by(|(a, _), (b, _)| key_order(heap, *a, *b));
    entries
}

/// Returns the order of two keys: integers come before floats, and no two keys are equal.
fn key_order<H: Heap>(heap: &H, a: H::Term, b: H::Term) -> Ordering {
    match heap.compare(a, b) {
        Ordering::Equal if heap.identical(a, b) => Ordering::Equal,
        Ordering::Equal => match (heap.float(a).is_some(), heap.float(b).is_some()) {
            (false, true) => Ordering::Less,
            (true, false) => Ordering::Greater,
            // Parts of the keys differ only in the kind of a number.
            _ => heap.hash(a, NAMES).cmp(&heap.hash(b, NAMES)),
        },
        order => order,
    }
}

/// Returns a hash that is equal for terms that are equal by [`order`], strictly.
pub(crate) fn hash<H: Heap>(heap: &H, kinds: &Kinds, term: H::Term, seed: u64) -> u64 {
    let (mut sum, mut todo) = (0u64, vec![(term, None, seed)]);
    while let Some((term, field, path)) = todo.pop() {
        let part = match meaning(heap, term, kinds.below(heap, field)) {
            Some(meaning) => meaning.hash(seed),
            None => match heap.kind(term) {
                Kind::List => match heap.uncons(term) {
                    Some((head, tail)) => {
                        todo.push((tail, field, mix(path, 1)));
                        todo.push((head, field, mix(path, 2)));
                        3
                    }
                    None => heap.hash(term, seed),
                },
                Kind::Map => {
                    for (key, value) in heap.entries(term) {
                        todo.push((value, Some(key), mix(path, heap.hash(key, seed))));
                    }
                    5 + heap.map_size(term).unwrap_or(0) as u64
                }
                _ => match heap.inside(term) {
                    Inside::Elements(elements) => {
                        let parts = elements.iter().enumerate();
                        let path = |place| mix(path, 16 + place as u64);
                        todo.extend(parts.map(|(place, part)| (*part, field, path(place))));
                        7 + elements.len() as u64
                    }
                    _ => heap.hash(term, seed),
                },
            },
        };
        // The entries of equal maps can come in different orders.
        sum = sum.wrapping_add(mix(path, part));
    }
    sum
}

impl<H: Heap> Machine<'_, H> {
    /// Returns the kind of a term: a date, a time or a decimal is not a map where it is a value.
    #[inline]
    pub fn kind(&self, term: H::Term) -> Kind {
        match self.heap.kind(term) {
            Kind::Map if self.values && self.heap.form(term) == Form::Value => Kind::Other,
            kind => kind,
        }
    }

    /// See [`Program::values`](crate::program::Program::values).
    #[inline]
    pub(crate) fn values(&self) -> bool {
        self.values
    }

    /// Returns whether the term is a date, a time or a decimal, and these are values.
    #[inline]
    pub fn is_value(&self, term: H::Term) -> bool {
        self.values && self.heap.kind(term) == Kind::Map && self.heap.form(term) == Form::Value
    }

    /// Returns the value if the term is one.
    pub fn value(&self, term: H::Term) -> Option<Value<H::Term>> {
        self.is_value(term).then(|| self.heap.value(term))
    }

    /// Returns whether a map is a struct some of whose keys are not fields.
    pub(crate) fn hides(&self, map: H::Term) -> bool {
        self.values && self.heap.form(map) != Form::Plain
    }

    /// Adds the kinds of the values in a term. Counts the walk, and the cost of the values.
    pub(crate) fn search(&mut self, kinds: &mut Kinds, term: H::Term) -> Result<(), Halt<H::Term>> {
        match self.heap.kind(term) {
            Kind::Nil | Kind::Bool | Kind::Number | Kind::String => Ok(()),
            _ => self.search_parts(kinds, term),
        }
    }

    fn search_parts(&mut self, kinds: &mut Kinds, term: H::Term) -> Result<(), Halt<H::Term>> {
        let mut todo = vec![(term, None)];
        while let Some((term, field)) = todo.pop() {
            self.consume_fuel(1)?;
            match self.heap.kind(term) {
                Kind::Nil | Kind::Bool | Kind::Number | Kind::String => {}
                Kind::List => {
                    if let Some((head, tail)) = self.heap.uncons(term) {
                        todo.extend([(tail, field), (head, field)]);
                    }
                }
                Kind::Map if self.heap.form(term) == Form::Value => {
                    let value = self.heap.value(term);
                    if let Value::Decimal {
                        coefficient: Coefficient::Integer(digits),
                        ..
                    } = value
                    {
                        let limbs = self.heap.limbs(digits);
                        self.consume_fuel_at_once(Decimal::cost_of(limbs))?;
                    }
                    let found = value.kinds();
                    if let Some(field) = field {
                        let cost = self.weigh(field)?;
                        self.consume_fuel_at_once(HASH * cost)?;
                    }
                    if !found.is_empty() {
                        kinds.add(position(self.heap, field), found);
                    }
                }
                Kind::Map => {
                    self.consume_fuel(2 * self.heap.map_size(term).unwrap_or(0))?;
                    let entries = self.heap.entries(term);
                    todo.extend(entries.into_iter().map(|(key, value)| (value, Some(key))));
                }
                Kind::Other => {
                    let count = match self.heap.inside(term) {
                        Inside::Elements(elements) => elements.len(),
                        _ => 0,
                    };
                    self.consume_fuel(count)?;
                    if let Inside::Elements(elements) = self.heap.inside(term) {
                        todo.extend(elements.iter().map(|part| (*part, field)));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the kinds of values in two terms that are compared; none if that cannot matter.
    #[cold]
    pub(super) fn kinds_of_both(&mut self, a: H::Term, b: H::Term) -> Result<Kinds, Halt<H::Term>> {
        let mut kinds = Kinds::default();
        let is_value = self.is_value(a) || self.is_value(b);
        let has_parts = |kind| matches!(kind, Kind::List | Kind::Map | Kind::Other);
        let (x, y) = (self.heap.kind(a), self.heap.kind(b));
        if is_value || x == y && has_parts(x) {
            self.search(&mut kinds, a)?;
            self.search(&mut kinds, b)?;
        }
        Ok(kinds)
    }

    /// Returns the order of two terms that have values of these kinds; `Equal` is `==`, or `===` if
    /// `strict`.
    pub(crate) fn order_by_meaning(
        &mut self,
        kinds: &Kinds,
        a: H::Term,
        b: H::Term,
        strict: bool,
    ) -> Result<Ordering, Halt<H::Term>> {
        let cost = self.weigh(a)? + self.weigh(b)?;
        self.consume_fuel_at_once(2 * HASH * cost)?;
        Ok(order(self.heap, kinds, a, b, strict))
    }

    /// Returns the cost of the meaning of a term itself, and its meaning.
    pub(crate) fn meaning_at_top(
        &mut self,
        kinds: &Kinds,
        term: H::Term,
    ) -> Result<Option<Meaning>, Halt<H::Term>> {
        let cost = self.weigh(term)?;
        self.consume_fuel_at_once(HASH * cost)?;
        Ok(meaning(self.heap, term, kinds.at_top()))
    }

    /// Searches the terms that `key` gives for the items of a list for values, unless no struct is a
    /// value. The walk over the list is in `rest`; improper lists are for the operation to refuse.
    pub(crate) fn search_items(
        &mut self,
        rest: &mut H::Term,
        kinds: &mut Kinds,
        key: impl Fn(&mut Self, H::Term) -> Result<H::Term, Halt<H::Term>>,
    ) -> Result<(), Halt<H::Term>> {
        while let Some((item, tail)) = self.heap.uncons(*rest) {
            self.consume_fuel(1)?;
            let key = key(self, item)?;
            self.search(kinds, key)?;
            *rest = tail;
            self.meter.advanced();
        }
        Ok(())
    }
}
