//! Validation: a walk that builds nothing and reports all errors.

use super::rules::Rules;
use super::values::{Class, Found, TimeStruct, Values};
use super::walk::frame::{ListFrame, OpenMap};
use super::walk::{Open, Place, Task, Walk, WalkEnd};
use super::{Scalar, Target};
use ptc_term::names::{is_keyword_name, Matching};
use ptc_term::suspend::{Exchange, Rooted};
use ptc_term::value::{Decimal, Form, Iso, Meaning, Value, LONGEST_DECIMAL};
use std::marker::PhantomData;

/// The task of checking a value against a type, by the rules of validation. It keeps no terms.
#[derive(Debug)]
pub struct Check<T> {
    rules: Rules,
    keys: Keys,
    terms: PhantomData<fn() -> T>,
}

/// What a check has seen of the keys of objects.
#[derive(Debug, Clone, Copy, Default)]
struct Keys {
    /// The number of fields that the maps around the current part lack so far.
    lacking: usize,
    /// Some map has more keys than fields that were found in it.
    surplus: bool,
}

impl<T> Check<T> {
    /// Creates a check by these rules.
    pub fn by(rules: Rules) -> Self {
        Check {
            rules,
            keys: Keys::default(),
            terms: PhantomData,
        }
    }

    /// Returns whether each map that was walked has no other keys than those of fields, if no two fields have the same key.
    pub fn has_declared_keys_only(&self) -> bool {
        !self.keys.surplus
    }
}

impl<T> Rooted for Check<T> {
    type Term = T;
    type With<U> = Check<U>;

    fn exchange<X: Exchange<T>>(self, _by: &mut X) -> Result<Check<X::Into>, X::Lost> {
        Ok(Check {
            keys: self.keys,
            ..Check::by(self.rules)
        })
    }
}

/// Bytes of a name that are read per unit of fuel.
const NAME_BYTES: usize = 8;

impl<H: Values> Task<H> for Check<H::Term> {
    type Done = ();
    /// The number of lacking fields.
    type Mark = usize;

    const SAME: () = ();

    fn matching(&self) -> Matching {
        self.rules.matching
    }

    #[inline(always)]
    fn takes_structs(&self) -> bool {
        self.rules.structs_are_maps
    }

    #[inline(always)]
    fn calls_structs_maps(&self) -> bool {
        self.rules.structs_are_maps
    }

    #[inline(always)]
    fn ends_at_first(&self) -> bool {
        false
    }

    #[inline(always)]
    fn reset(&mut self, mark: &usize, _heap: &H) {
        self.keys.lacking = *mark;
    }

    #[inline(always)]
    fn mark(&self) -> usize {
        self.keys.lacking
    }

    #[inline(always)]
    fn is_silent_since(&self, _mark: &usize) -> bool {
        true
    }

    #[inline]
    fn scalar(
        walk: &mut Walk<H, Self>,
        scalar: Scalar,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<(), WalkEnd> {
        let heap = &*walk.heap;
        let fits = match scalar {
            Scalar::String => heap.is_binary(value),
            Scalar::Int => heap.class(value) == Class::Integer,
            Scalar::Float | Scalar::Number => {
                matches!(heap.class(value), Class::Float | Class::Integer)
            }
            Scalar::Bool => heap.is_bool(value),
            Scalar::Keyword => is_keyword(walk, value)?,
            Scalar::Any => true,
            Scalar::Map => {
                heap.class(value) == Class::Map
                    && (walk.state.task.rules.structs_are_maps || !heap.is_struct(value))
            }
            Scalar::DateTime => is_date_time(heap, value),
            Scalar::Date => is_date(heap, value),
            Scalar::Decimal => is_decimal(heap, value) || is_decimal_text(heap, value),
        };
        match fits {
            true => Ok(()),
            false => walk.refuse(place, Target::Scalar(scalar), value),
        }
    }

    #[inline(always)]
    fn value(_done: (), was: H::Term) -> H::Term {
        was
    }

    #[inline(always)]
    fn unanswered(&self) -> usize {
        0
    }

    #[inline(always)]
    fn by_rules(
        _walk: &mut Walk<H, Self>,
        _scalar: Scalar,
        _rules: u32,
        _value: H::Term,
        _place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        Ok(None)
    }

    #[inline(always)]
    fn made(_value: H::Term) {}

    #[inline(always)]
    fn absent(&mut self) {
        self.keys.lacking += 1;
    }

    #[inline(always)]
    fn found(_walk: &mut Walk<H, Self>, _open: Open<H>, _found: &Found<H::Term>) {}

    #[inline(always)]
    fn field(
        _walk: &mut Walk<H, Self>,
        _map: &mut OpenMap<H::Term, Open<H>, usize>,
        _found: &Found<H::Term>,
        _done: (),
    ) {
    }

    #[inline(always)]
    fn passes(_list: &usize) -> bool {
        true
    }

    #[inline(always)]
    fn element(_walk: &mut Walk<H, Self>, _was: H::Term, _done: ()) {}

    #[inline]
    fn list_end(
        walk: &mut Walk<H, Self>,
        value: H::Term,
        list: &ListFrame<usize>,
        _is_proper: bool,
    ) -> Result<(), WalkEnd> {
        // An improper list has a finding of its own.
        walk.remember(value, list.id, list.findings, &list.mark);
        Ok(())
    }

    #[inline]
    fn map_end<const RARE: bool>(
        walk: &mut Walk<H, Self>,
        map: &OpenMap<H::Term, Open<H>, usize>,
    ) -> Result<(), WalkEnd> {
        let keys = &mut walk.state.task.keys;
        let lacking = keys.lacking.saturating_sub(map.frame.mark);
        keys.lacking = map.frame.mark;
        if !keys.surplus {
            let found = (map.frame.fields.count as usize).saturating_sub(lacking);
            let size = walk.heap.map_size(map.value);
            walk.state.task.keys.surplus = size.is_some_and(|size| size > found);
        }
        walk.remember(map.value, map.frame.id, map.frame.findings, &map.frame.mark);
        Ok(())
    }
}

/// Returns whether this is an atom, a keyword of PTC-Lisp, or a string that can be the name of a
/// keyword.
fn is_keyword<H: Values>(
    walk: &mut Walk<H, Check<H::Term>>,
    value: H::Term,
) -> Result<bool, WalkEnd> {
    match walk.heap.class(value) {
        Class::Atom => return Ok(true),
        Class::Map => return Ok(walk.heap.keyword_name(value).is_some()),
        Class::Bitstring if !walk.state.task.rules.strings_are_keywords => return Ok(false),
        Class::Bitstring if walk.heap.is_binary(value) => {}
        _ => return Ok(false),
    }
    let length = walk.heap.byte_length(value).unwrap_or(0);
    if length > 64 {
        walk.consume_fuel(length / NAME_BYTES)?;
    }
    Ok(walk.heap.bytes(value).is_some_and(is_keyword_name))
}

/// Returns whether this is a `%DateTime{}`.
pub(super) fn is_date_time<H: Values>(heap: &H, value: H::Term) -> bool {
    heap.class(value) == Class::Map && heap.time_struct(value) == Some(TimeStruct::DateTime)
}

/// Returns whether this is a `%Date{}`.
pub(super) fn is_date<H: Values>(heap: &H, value: H::Term) -> bool {
    heap.class(value) == Class::Map
        && heap.form(value) == Form::Value
        && matches!(heap.value(value), Value::Iso(Iso::Date(_)))
}

/// Returns whether this is a `%Decimal{}`.
pub(super) fn is_decimal<H: Values>(heap: &H, value: H::Term) -> bool {
    heap.class(value) == Class::Map
        && heap.form(value) == Form::Value
        && matches!(heap.value(value), Value::Decimal { .. })
}

/// Returns the number that a struct of a decimal stands for; `None` for any other value.
pub(super) fn decimal_of<H: Values>(heap: &H, value: H::Term) -> Option<Decimal> {
    if !is_decimal(heap, value) {
        return None;
    }
    match Meaning::of_value(heap, heap.value(value))? {
        Meaning::Number(decimal) => Some(decimal),
        Meaning::Moment(..) => None,
    }
}

/// Returns whether this is the text of a decimal: what coercion makes where there is no `Decimal`.
fn is_decimal_text<H: Values>(heap: &H, value: H::Term) -> bool {
    let is_short = |length| length <= LONGEST_DECIMAL;
    heap.byte_length(value).is_some_and(is_short)
        && heap.bytes(value).is_some_and(|text| {
            text.first()
                .is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit())
                && Decimal::read(text).is_some_and(|decimal| decimal.is_finite())
        })
}
