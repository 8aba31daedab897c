//! `walk`, `prewalk` and `postwalk`: collections are opened, their items are replaced, and they are made again.
//!
//! The depth of the collections is that of a stack of its own.

use super::accept::keep;
use super::fold::pair;
use super::function::{Applied, FunctionLike};
use super::Turn;
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::families::seqs;
use crate::table::Builtin;
use crate::values::{class, make_set, Class};
use ptc_kernels::Listing;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// A collection that is open: what it is, and where its new items begin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    class: Class,
    start: usize,
}

/// What is done with the current value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WalkStage {
    /// It is a part that is not visited yet.
    Visit,
    /// The function before its parts is applied.
    Before,
    /// It is opened, if it is a collection.
    Open,
    /// The next part of the innermost collection is taken.
    Next,
    /// The innermost collection is made again.
    Close,
    /// The function after its parts is applied.
    After,
    /// It is finished.
    Leave,
}

/// A walk that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk<T> {
    builtin: Builtin,
    /// What is applied to each part.
    inner: FunctionLike<T>,
    /// What is applied to the whole, by `walk`.
    outer: Option<FunctionLike<T>>,
    form: T,
    value: T,
    stage: WalkStage,
    awaits: bool,
    levels: Vec<Level>,
    /// The parts of each open collection that are not visited yet.
    rests: Roots<T>,
    /// The new items of the open collections.
    made: Roots<T>,
    places: Vec<u32>,
    listing: Listing<T>,
}

rooted!(Walk {
    terms: form, value; states: inner, outer, rests, made, listing;
    plain: builtin, stage, awaits, levels, places
});

impl<T: Copy> Walk<T> {
    /// The start.
    pub fn of(
        builtin: Builtin,
        (inner, outer): (FunctionLike<T>, Option<FunctionLike<T>>),
        form: T,
    ) -> Self {
        let stage = match builtin {
            Builtin::Walk => WalkStage::Open,
            _ => WalkStage::Visit,
        };
        Walk {
            builtin,
            inner,
            outer,
            form,
            value: form,
            stage,
            awaits: false,
            levels: Vec::new(),
            rests: Roots::default(),
            made: Roots::default(),
            places: Vec::new(),
            listing: Listing::default(),
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            self.applied(value);
        }
        self.awaits = false;
        loop {
            m.consume_fuel(1)?;
            match self.stage {
                WalkStage::Visit => {
                    self.stage = match self.builtin {
                        Builtin::Postwalk => WalkStage::Open,
                        _ => WalkStage::Before,
                    }
                }
                WalkStage::Open => self.open(m)?,
                WalkStage::Next => self.next(m),
                WalkStage::Close => {
                    self.value = self.collection(m)?;
                    self.close(m);
                }
                WalkStage::Leave => {
                    if self.levels.is_empty() {
                        return Ok(Turn::done(self.value));
                    }
                    self.leave(m)?;
                }
                WalkStage::Before | WalkStage::After => {
                    if let Some(turn) = self.apply(m)? {
                        return Ok(turn);
                    }
                }
            }
            m.meter.advanced();
        }
    }

    /// Applies the function to the current value.
    fn apply<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<Option<Turn<T>>, Halt<H>> {
        let function = match (self.stage, &mut self.outer) {
            (WalkStage::After, Some(outer)) => outer,
            _ => &mut self.inner,
        };
        match function.apply(m, self.value)? {
            Applied::Value(value) => {
                self.applied(value);
                Ok(None)
            }
            Applied::Called => {
                let next = function.call(m, &[self.value])?;
                self.awaits = true;
                Ok(Some(Turn::Next(next)))
            }
            Applied::Refused => {
                let mut given = vec![self.inner.term];
                given.extend(self.outer.as_ref().map(|outer| outer.term));
                given.push(self.form);
                Err(invalid_types(self.builtin, &given))
            }
        }
    }

    fn applied(&mut self, value: T) {
        self.value = value;
        self.stage = match (self.stage, self.builtin) {
            (WalkStage::Before, Builtin::Prewalk) => WalkStage::Open,
            _ => WalkStage::Leave,
        };
    }

    /// Opens the current value, if it is a collection.
    fn open<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let class = class(m, self.value);
        if !matches!(class, Class::List | Class::Set | Class::Map) {
            self.finish();
            return Ok(());
        }
        let items = seqs::items(m, self.value)?;
        keep(m, &mut self.rests, items)?;
        let start = self.made.len();
        self.levels.push(Level { class, start });
        self.stage = WalkStage::Next;
        Ok(())
    }

    /// Goes on with a value whose parts are done.
    fn finish(&mut self) {
        self.stage = match self.builtin {
            Builtin::Prewalk => WalkStage::Leave,
            _ => WalkStage::After,
        };
    }

    /// Takes the next part of the innermost collection.
    fn next<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) {
        let next = match self.rests.last_mut(m.heap) {
            Some(rest) => m.heap.uncons(*rest).map(|(part, tail)| {
                *rest = tail;
                part
            }),
            None => None,
        };
        match next {
            Some(part) => (self.value, self.stage) = (part, WalkStage::Visit),
            None => self.stage = WalkStage::Close,
        }
    }

    /// Makes the innermost collection of its new items.
    fn collection<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        let Some(&Level { class, start }) = self.levels.last() else {
            return Ok(self.value);
        };
        let count = self.made.len() - start;
        if class == Class::List {
            if self.places.is_empty() && count > 0 {
                m.consume_fuel_at_once(count / 8)?;
                self.places.extend(start as u32..self.made.len() as u32);
            }
            return Ok(self.listing.at_places(m, &self.made, Some(&self.places))?);
        }
        m.consume_fuel_at_once(count)?;
        let items = self.made.since(start, m.heap).to_vec();
        if class == Class::Set {
            return make_set(m, &items);
        }
        m.count_new_map(count)?;
        // Of equal keys the last one counts.
        let pairs = items.iter().rev().filter_map(|item| pair(m, *item));
        let (keys, values): (Vec<_>, Vec<_>) = pairs.unzip();
        Ok(m.heap.make_map(&keys, &values))
    }

    /// Leaves the innermost collection, which is the current value now.
    fn close<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) {
        if let Some(level) = self.levels.pop() {
            self.made.truncate(level.start, m.heap);
        }
        self.rests.take_last(m.heap);
        self.places.clear();
        self.listing = Listing::default();
        self.finish();
    }

    /// Puts the current value into the innermost collection.
    fn leave<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let is_entry = self.levels.last().is_some_and(|it| it.class == Class::Map);
        if is_entry && pair(m, self.value).is_none() {
            return Err(failed("walk_entry", Builtin::Walk, &[self.value]));
        }
        keep(m, &mut self.made, self.value)?;
        self.stage = WalkStage::Next;
        Ok(())
    }
}
