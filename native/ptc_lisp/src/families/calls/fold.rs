//! `reduce` and `reduce-kv`.

use super::function::{Applied, FunctionLike};
use super::{Refusal, Turn};
use crate::code::{Halt, Machine};
use crate::consts::EMPTY_LIST;
use crate::exec::checks::invalid_types;
use crate::families::{self, seqs};
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_vm::Next;

/// A built-in that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold<T> {
    builtin: Builtin,
    function: FunctionLike<T>,
    /// The value that was given to start with.
    initial: Option<T>,
    /// The sequence as it was given.
    source: T,
    /// The items that are not visited yet.
    rest: T,
    /// The value so far.
    value: Option<T>,
    read: bool,
    awaits: bool,
}

rooted!(Fold {
    terms: source, rest; optional: initial, value; states: function; plain: builtin, read, awaits
});

impl<T: Copy> Fold<T> {
    /// The start.
    pub fn over(
        builtin: Builtin,
        function: FunctionLike<T>,
        (initial, source): (Option<T>, T),
    ) -> Self {
        Fold {
            builtin,
            function,
            initial,
            source,
            rest: source,
            value: initial,
            read: false,
            awaits: false,
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            self.value = Some(value);
        }
        self.awaits = false;
        if !self.read {
            self.rest = seqs::items(m, self.source)?;
            self.read = true;
            m.meter.advanced();
        }
        loop {
            if self.function.built_in() == Some(Builtin::Add) && self.add_numbers(m)? {
                m.meter.advanced();
            }
            let Some((item, tail)) = m.heap.uncons(self.rest) else {
                break;
            };
            m.consume_fuel(1)?;
            let Some(value) = self.value else {
                (self.value, self.rest) = (Some(item), tail);
                continue;
            };
            if self.function.built_in() == Some(Builtin::Conj) {
                if let Some(all) = self.all_added(m, value)? {
                    return Ok(Turn::done(all));
                }
            }
            let applied = match self.builtin {
                Builtin::ReduceKv => match pair(m, item) {
                    Some((key, of_key)) => {
                        let given = [value, key, of_key];
                        match self.function.apply_to(m, &given)? {
                            Applied::Called => return self.call(m, &given, tail),
                            applied => applied,
                        }
                    }
                    None => Applied::Refused,
                },
                _ => match self.function.apply_to(m, &[value, item])? {
                    Applied::Called => return self.call(m, &[value, item], tail),
                    applied => applied,
                },
            };
            match applied {
                Applied::Value(value) => {
                    (self.value, self.rest) = (Some(value), tail);
                    m.meter.advanced();
                }
                _ => return Err(self.refused()),
            }
        }
        Ok(Turn::Next(Next::Done(self.value.unwrap_or(m.heap.nil()))))
    }

    /// Adds numbers of one kind that follow each other: small integers, or floats. Returns whether it has added any.
    fn add_numbers<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<bool, Halt<H>> {
        let Some(value) = self.value else {
            return Ok(false);
        };
        let mut rest = self.rest;
        let mut stopped = Ok(());
        let sum = if let Some(first) = m.heap.small_integer(value) {
            let mut sum = first;
            while let (true, Some((item, tail))) = (stopped.is_ok(), m.heap.uncons(rest)) {
                let added = m
                    .heap
                    .small_integer(item)
                    .and_then(|it| sum.checked_add(it));
                let Some(added) = added else { break };
                (sum, rest) = (added, tail);
                stopped = m.consume_fuel(1);
            }
            Number::Int(sum)
        } else if let Some(first) = m.heap.float(value) {
            let mut sum = first;
            while let (true, Some((item, tail))) = (stopped.is_ok(), m.heap.uncons(rest)) {
                let added = m.heap.float(item).map(|it| sum + it);
                let Some(added) = added.filter(|it| it.is_finite()) else {
                    break;
                };
                (sum, rest) = (added, tail);
                stopped = m.consume_fuel(1);
            }
            Number::Float(sum)
        } else {
            return Ok(false);
        };
        let has_added = m.heap.identity(rest) != m.heap.identity(self.rest);
        if let (true, Some(sum)) = (has_added, m.heap.make_number(sum)) {
            (self.value, self.rest) = (Some(sum), rest);
            m.meter.advanced();
        }
        stopped?;
        Ok(has_added)
    }

    /// Adds all other items to a list at once, as `conj` would do one by one; `None` if it is no list.
    fn all_added<H: Heap<Term = T>>(
        &self,
        m: &mut Machine<'_, H>,
        value: T,
    ) -> Result<Option<T>, Halt<H>> {
        let list = match class(m, value) {
            Class::Nil => m.constant(EMPTY_LIST),
            Class::List => value,
            _ => return Ok(None),
        };
        families::call(m, Builtin::Into, &[list, self.rest]).map(Some)
    }

    fn call<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        given: &[T],
        tail: T,
    ) -> Result<Turn<T>, Halt<H>> {
        let next = self.function.call(m, given)?;
        (self.rest, self.awaits) = (tail, true);
        Ok(Turn::Next(next))
    }

    #[cold]
    fn refused(&self) -> Refusal<T> {
        let mut given = vec![self.function.term];
        given.extend(self.initial);
        given.push(self.source);
        invalid_types(self.builtin, &given)
    }
}

/// Returns the parts of a list of two.
pub(super) fn pair<H: Heap>(m: &Machine<'_, H>, list: H::Term) -> Option<(H::Term, H::Term)> {
    let (key, rest) = m.heap.uncons(list)?;
    let (value, end) = m.heap.uncons(rest)?;
    m.heap.is_empty_list(end).then_some((key, value))
}
