//! Built-ins that apply a function to each item of a sequence, from the first to the last.

use super::function::{Applied, FunctionLike};
use super::{Refusal, Turn};
use crate::code::{Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::families::seqs;
use crate::table::Builtin;
use crate::values::make_int;
use ptc_kernels::{GroupListing, Groups, Listing, Table};
use ptc_term::heap::{Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Items between two checks of the limits.
const BATCH: usize = 64;

/// How far a built-in is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EachStage {
    /// A list is made of the sequence.
    Reading,
    /// Its items are visited.
    Visiting,
    /// The result is made.
    Ending,
}

/// A built-in that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Each<T> {
    pub(super) builtin: Builtin,
    pub(super) function: FunctionLike<T>,
    /// The sequence as it was given.
    pub(super) source: T,
    /// A further argument: a comparator.
    pub(super) comparator: Option<T>,
    /// The items that are not visited yet.
    pub(super) rest: T,
    /// Number of items that are visited.
    pub(super) at: usize,
    pub(super) stage: EachStage,
    /// Whether the value of the function for the next item is awaited.
    awaits: bool,
    /// That value, until it is accepted.
    value: Option<T>,
    /// The items of the value of `mapcat` that are not kept yet.
    pub(super) inside: Option<T>,
    /// The items, or the values, that the result is made of.
    pub(super) kept: Roots<T>,
    /// The keys of these, or the lists that are made.
    pub(super) keys: Roots<T>,
    /// What was found: an item, or a value.
    pub(super) found: Option<T>,
    /// Its key, or that of the last item.
    pub(super) key: Option<T>,
    pub(super) groups: Option<Box<Groups>>,
    pub(super) table: Option<Box<Table>>,
    pub(super) listing: Listing<T>,
    pub(super) group_listing: GroupListing<T>,
}

rooted!(Each {
    terms: source, rest;
    optional: comparator, value, inside, found, key;
    states: function, kept, keys, listing, group_listing;
    plain: builtin, at, stage, awaits, groups, table
});

impl<T: Copy> Each<T> {
    /// The start of a built-in over a sequence.
    pub fn over(builtin: Builtin, function: FunctionLike<T>, source: T) -> Self {
        Each {
            builtin,
            function,
            source,
            comparator: None,
            rest: source,
            at: 0,
            stage: EachStage::Reading,
            awaits: false,
            value: None,
            inside: None,
            kept: Roots::default(),
            keys: Roots::default(),
            found: None,
            key: None,
            groups: (builtin == Builtin::GroupBy).then(|| Box::new(Groups::new(1))),
            table: (builtin == Builtin::DistinctBy).then(Box::default),
            listing: Listing::default(),
            group_listing: GroupListing::default(),
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if self.awaits {
            (self.value, self.awaits) = (returned, false);
        }
        self.accept_value(m)?;
        if self.stage == EachStage::Reading {
            self.rest = seqs::items(m, self.source)?;
            self.stage = EachStage::Visiting;
            m.meter.advanced();
        }
        let indexed = matches!(self.builtin, Builtin::MapIndexed | Builtin::KeepIndexed);
        while self.stage == EachStage::Visiting {
            if self.inside.is_some() {
                self.keep_inside(m)?;
            }
            if self.by_known_keys(m)? {
                m.meter.advanced();
            }
            let Some((item, tail)) = m.heap.uncons(self.rest) else {
                self.stage = EachStage::Ending;
                break;
            };
            m.consume_fuel(1)?;
            let applied = match indexed {
                false => self.function.apply(m, item)?,
                true => {
                    let index = make_int(m, self.at as i64);
                    self.function.apply_to(m, &[index, item])?
                }
            };
            match applied {
                Applied::Value(value) => {
                    // It is not computed again if its acceptance is suspended.
                    self.value = Some(value);
                    self.accept(m, (item, tail), value)?;
                    self.value = None;
                    m.meter.advanced();
                }
                Applied::Called => {
                    let next = match indexed {
                        false => self.function.call(m, &[item])?,
                        true => {
                            let index = make_int(m, self.at as i64);
                            self.function.call(m, &[index, item])?
                        }
                    };
                    self.awaits = true;
                    return Ok(Turn::Next(next));
                }
                Applied::Refused => return Err(self.refused(item)),
            }
        }
        self.end(m)
    }

    /// Visits items of `map` and `filter` by a key, as long as each item has the keys of the one before it. Returns whether it has visited
    /// any.
    fn by_known_keys<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<bool, Halt<H>> {
        let maps = matches!(self.builtin, Builtin::Map | Builtin::Mapv);
        let filters = matches!(self.builtin, Builtin::Filter | Builtin::Filterv);
        if !self.function.is_key() || !(maps || filters) {
            return Ok(false);
        }
        let start = self.at;
        loop {
            m.check_heap_limit(WORDS_OF_CELL * self.kept.len())?;
            m.consume_fuel(BATCH / 2)?;
            for _ in 0..BATCH {
                let Some((item, tail)) = m.heap.uncons(self.rest) else {
                    return Ok(self.at > start);
                };
                let Some(value) = self.function.at_known_key(&*m.heap, item) else {
                    return Ok(self.at > start);
                };
                if maps {
                    self.kept.push(value);
                } else if m.heap.truthy(value) {
                    self.kept.push(item);
                }
                self.rest = tail;
                self.at += 1;
            }
            m.meter.advanced();
        }
    }

    /// Accepts the value that was awaited.
    #[inline]
    fn accept_value<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        if let (Some(value), Some(next)) = (self.value, m.heap.uncons(self.rest)) {
            self.accept(m, next, value)?;
            self.value = None;
            m.meter.advanced();
        }
        Ok(())
    }

    /// The error of an item that the function cannot be applied to.
    #[cold]
    fn refused(&self, item: T) -> Refusal<T> {
        match self.builtin {
            Builtin::SortBy => failed("sort_key", self.builtin, &[item]),
            _ => invalid_types(self.builtin, &[self.function.term, self.source]),
        }
    }
}
