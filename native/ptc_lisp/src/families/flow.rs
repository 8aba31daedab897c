//! The state that built-ins on sequences share: the sequences are read as lists, their items are visited one by one, and a
//! list is made of what they give.
//!
//! What a built-in has done is in the state, so it goes on where it was suspended:
//!
//! 1. [`Flow::read`] makes lists of the sources that are none.
//! 2. [`each`] visits the items of a source. The source is what is not visited yet, so nothing is visited twice.
//! 3. [`Flow::list`] makes the list of [`Flow::kept`], from its end.

use super::reading::Reading;
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_kernels::{Listing, Table, Tally, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::Halt as VmHalt;

/// Sources that are read before their number is counted.
const SOURCES_BETWEEN_COUNTS: usize = 64;

/// A call of a built-in.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c, T> {
    /// The built-in.
    pub builtin: Builtin,
    /// Its arguments.
    pub arguments: &'c [T],
}

impl<T: Copy> Call<'_, T> {
    /// The error of arguments that the built-in cannot take.
    #[cold]
    pub fn refuse(self) -> VmHalt<Fault<T>> {
        invalid_types(self.builtin, self.arguments)
    }

    /// Another error of the built-in.
    #[cold]
    pub fn fail(self, code: &'static str, terms: &[T]) -> VmHalt<Fault<T>> {
        failed(code, self.builtin, terms)
    }
}

/// The state of a built-in.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow<T> {
    /// The sequences: what is not visited yet of those that are read.
    pub sources: Vec<T>,
    /// Number of sources that are lists.
    read: usize,
    /// The source that is being read.
    reading: Option<Box<Reading<T>>>,
    /// Number of items visited, or the number of the current step.
    pub at: usize,
    /// The part of the work that is being done, where a built-in has several.
    pub part: usize,
    /// The items of the list that is being made.
    pub kept: Roots<T>,
    /// Lists that are made of kept items, where a built-in makes several.
    pub lists: Roots<T>,
    /// A value that is being made beside it.
    pub made: Option<T>,
    /// The list as far as it is made.
    pub listing: Listing<T>,
    /// The cost of comparing long keys.
    pub heavy: usize,
    /// Chosen places.
    pub places: Vec<usize>,
    /// Which items are different.
    pub different: Option<Box<Different>>,
    /// What only some built-ins have.
    pub tools: Tools,
}

rooted!(Flow {
    optional: made; lists: sources; states: reading, kept, lists, listing; plain: read, at, part, heavy, places, different, tools
});

/// Plain data of some built-ins.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Tools {
    /// Nothing.
    #[default]
    None,
    /// A sum, and the number of its terms.
    Tally(Tally, usize),
    /// The graphemes of a text that are counted, and the length of its next piece.
    Graphemes(usize, usize),
}

/// Different items, which are in [`Flow::kept`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Different {
    /// The items by their hashes.
    pub table: Table,
    /// How often each occurs.
    pub counts: Vec<u32>,
}

/// Why a visit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// It goes on with the next item.
    Next,
    /// It ends before this item, which stays in the source.
    Stop,
}

impl<T: Copy> Flow<T> {
    /// The start of a built-in with these sources.
    pub fn over(sources: &[T]) -> Self {
        Flow {
            sources: sources.to_vec(),
            read: 0,
            reading: None,
            at: 0,
            part: 0,
            kept: Roots::default(),
            lists: Roots::default(),
            made: None,
            listing: Listing::default(),
            heavy: 0,
            places: Vec::new(),
            different: None,
            tools: Tools::None,
        }
    }

    /// Makes lists of the sources. Those of a call that are no sequences are its error.
    pub fn read<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
    ) -> Result<(), Halt<H>> {
        while let Some(&source) = self.sources.get(self.read) {
            let class = class(m, source);
            if class != Class::List {
                let reading = match (&mut self.reading, class) {
                    (Some(reading), _) => reading,
                    (reading, Class::Nil | Class::Map | Class::Set | Class::String) => {
                        reading.insert(Box::new(Reading::of(source)))
                    }
                    _ => return Err(call.refuse()),
                };
                self.sources[self.read] = reading.list(m, class)?;
                self.reading = None;
                m.meter.advanced();
            }
            self.read += 1;
            if self.read.is_multiple_of(SOURCES_BETWEEN_COUNTS) {
                m.meter.advanced();
                m.consume_fuel(SOURCES_BETWEEN_COUNTS)?;
            }
        }
        Ok(())
    }

    /// Reads this source, if none is being visited: it is the first and only one.
    pub fn next_source<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
        source: T,
    ) -> Result<(), Halt<H>> {
        if self.sources.is_empty() {
            self.sources.push(source);
        }
        self.read(m, call)
    }

    /// Ends the visit of the only source.
    pub fn end_source(&mut self) {
        self.sources.clear();
        self.read = 0;
    }

    /// Adds a source that is a list.
    pub fn add_read(&mut self, place: usize, list: T) {
        self.sources.insert(place, list);
        self.read += 1;
    }

    /// Keeps an item for the list.
    #[inline]
    pub fn keep<H: Heap<Term = T>>(&mut self, m: &Machine<'_, H>, item: T) -> Result<(), Halt<H>> {
        keep(m, &mut self.kept, item)
    }

    /// Makes the list of what was kept.
    pub fn list<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        Ok(self.listing.all(m, &self.kept)?)
    }

    /// Makes one of several lists of what was kept, and begins the next one.
    pub fn end_list<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let list = self.list(m)?;
        keep(m, &mut self.lists, list)?;
        self.kept.truncate(0, m.heap);
        self.listing = Listing::default();
        m.meter.advanced();
        Ok(())
    }

    /// Makes the list of the lists that were made.
    pub fn list_of_lists<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Eval<H> {
        Ok(self.listing.all(m, &self.lists)?)
    }

    /// Keeps all items of a source that are not visited yet.
    pub fn keep_all<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
        source: usize,
    ) -> Result<(), Halt<H>> {
        let Flow {
            sources, at, kept, ..
        } = self;
        each(m, call, (&mut sources[source], at), |m, _, item| {
            keep(m, kept, item)?;
            Ok(Visit::Next)
        })
    }

    /// Keeps so many items of a source at most.
    pub fn keep_first<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
        count: usize,
    ) -> Result<(), Halt<H>> {
        let Flow {
            sources, at, kept, ..
        } = self;
        each(m, call, (&mut sources[0], at), |m, at, item| {
            if at == count {
                return Ok(Visit::Stop);
            }
            keep(m, kept, item)?;
            Ok(Visit::Next)
        })
    }

    /// Visits items of the first source until so many were visited.
    pub fn skip<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
        count: usize,
    ) -> Result<(), Halt<H>> {
        let Flow { sources, at, .. } = self;
        each(m, call, (&mut sources[0], at), |_, at, _| {
            Ok(match at == count {
                true => Visit::Stop,
                false => Visit::Next,
            })
        })
    }

    /// Returns the number of items of the first source, and begins again with it. It is the first part of a built-in.
    pub fn length<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        call: Call<'_, T>,
    ) -> Result<usize, Halt<H>> {
        if self.part == 0 {
            let start = *self.made.get_or_insert(self.sources[0]);
            self.skip(m, call, usize::MAX)?;
            self.part = 1 + self.at;
            (self.sources[0], self.at) = (start, 0);
        }
        Ok(self.part - 1)
    }
}

/// Keeps an item.
#[inline]
pub fn keep<H: Heap>(
    m: &Machine<'_, H>,
    kept: &mut Roots<H::Term>,
    item: H::Term,
) -> Result<(), Halt<H>> {
    if kept.len().is_multiple_of(KEPT_BETWEEN_CHECKS) {
        m.check_heap_limit(WORDS_OF_CELL * kept.len())?;
    }
    kept.push(item);
    Ok(())
}

/// Visits the items of a list, as long as `visit` wants. `visit` gets the number of items visited before. A visit that is
/// stopped must not have changed anything, as it is made again.
#[inline]
pub fn each<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (rest, at): (&mut H::Term, &mut usize),
    mut visit: impl FnMut(&mut Machine<'_, H>, usize, H::Term) -> Result<Visit, Halt<H>>,
) -> Result<(), Halt<H>> {
    while let Some((item, tail)) = m.heap.uncons(*rest) {
        m.consume_fuel(1)?;
        if visit(m, *at, item)? == Visit::Stop {
            return Ok(());
        }
        (*rest, *at) = (tail, *at + 1);
        m.meter.advanced();
    }
    match m.heap.is_empty_list(*rest) {
        true => Ok(()),
        false => Err(call.refuse()),
    }
}

/// Runs a built-in with sources, see [`Flow`].
pub fn flow<H: Heap, R>(
    m: &mut Machine<'_, H>,
    sources: &[H::Term],
    evaluate: impl FnOnce(&mut Machine<'_, H>, &mut Flow<H::Term>) -> Result<R, Halt<H>>,
) -> Result<R, Halt<H>> {
    m.resumable(|_| Flow::over(sources), evaluate)
}
