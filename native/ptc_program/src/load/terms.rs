//! The terms of a program that is being loaded: its constants, and those that its table does not contain.

use super::{Refusal, Tabled, Unloaded};
use crate::code::{ConstId, Program};
use crate::compile::{Failure, PathPart, Walk};
use crate::source::KeptSource;
use ptc_json::{Document, Entry, Node, PartialValue, Replay, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;

/// Fuel for a constant that is only a name or a number.
const SMALL_CONSTANT: usize = 4;

/// Number of entries that are looked at in one step, and of those that are passed for one unit of fuel.
const ENTRIES_A_STEP: Node = 512;
const ENTRIES_A_UNIT: usize = 4;

/// The constants of a program that are becoming terms.
#[derive(Debug)]
pub(super) struct Building {
    pub program: Arc<Program>,
    pub consts: Vec<Node>,
    pub tabled: Tabled,
    /// What is kept, without its table; `None` if nothing is, or if it was kept before.
    pub source: Option<Box<KeptSource>>,
    /// The constants that the table does not contain.
    pub known: HashMap<Node, ConstId>,
    /// The replay of the constant that is partly built.
    pub begun: Option<Replay>,
}

/// What is kept of a program, while the terms are looked for that its table does not contain.
#[derive(Debug)]
pub(super) struct KeepingTerms {
    pub program: Option<Arc<Program>>,
    pub source: Option<Box<KeptSource>>,
    /// The constants by the parts of the source that they are.
    pub known: HashMap<Node, ConstId>,
    /// The entries before this one were looked at.
    pub at: Node,
}

/// The terms of a program that is being loaded.
#[derive(Debug)]
pub(crate) struct LoadTerms<T> {
    /// The terms of the table's entries, if the program is a term.
    pub entries: Roots<T>,
    /// The terms that follow in the copy.
    pub next: Roots<T>,
    /// The constants.
    pub consts: Roots<T>,
    /// The constant that is partly built.
    pub begun: PartialValue<T>,
}

rooted!(LoadTerms { states: entries, next, consts, begun; });

impl<T> Default for LoadTerms<T> {
    fn default() -> Self {
        LoadTerms {
            entries: Roots::default(),
            next: Roots::default(),
            consts: Roots::default(),
            begun: PartialValue::default(),
        }
    }
}

impl<T: Copy> LoadTerms<T> {
    pub(super) fn compile<H: Heap<Term = T>>(
        &mut self,
        walk: &mut Walk,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Unloaded<T>> {
        let walked = walk.resume(document, &mut |fuel, words| {
            consume_fuel(heap, meter, fuel, words)
        });
        match walked {
            Ok(()) => Ok(()),
            Err(Failure::Stopped(stop)) => Err(stop.into()),
            // If this is stopped, the resumed walk ends at the same fault.
            Err(Failure::Rejected(fault)) => {
                let mut terms = Vec::with_capacity(fault.terms.len());
                for node in &fault.terms {
                    terms.push(self.whole(*node, document, heap, meter)?);
                }
                let mut part = |part: &PathPart| {
                    Ok(match part {
                        PathPart::Field(name) => PathPart::Field(name),
                        PathPart::Index(index) => PathPart::Index(*index),
                        PathPart::Key(node) => {
                            PathPart::Key(self.whole(*node, document, heap, meter)?)
                        }
                    })
                };
                let path = walk
                    .mistake()
                    .map(|path| path.iter().map(&mut part).collect());
                let path: Option<Result<Vec<_>, Stop>> = path;
                Err(Refusal::Rejected(fault.with_terms(terms), path.transpose()?).into())
            }
        }
    }

    /// Returns the term of an entry that was copied.
    fn copied<H: Heap<Term = T>>(&self, node: Node, heap: &H) -> Option<T> {
        let entries = &self.entries;
        ((node as usize) < entries.len()).then(|| entries.get(heap, node as usize))
    }

    /// Returns the term of an entry, built in one step.
    fn whole<H: Heap<Term = T>>(
        &self,
        node: Node,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        if let Some(term) = self.copied(node, heap) {
            return Ok(term);
        }
        let mut builder = TermBuilder::new(Workspace::in_one_go(heap, meter));
        Replay::new(document, node).run(document, &mut builder)?;
        builder.check_heap_limit()?;
        Ok(builder.finish())
    }

    pub(super) fn build<H: Heap<Term = T>>(
        &mut self,
        building: &mut Building,
        text: &[u8],
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let document = &Document::new(text, building.tabled.table());
        while let Some(node) = building.consts.get(self.consts.len()).copied() {
            if let Some(term) = self.copied(node, heap) {
                if building.source.is_some() && is_outside(document.entry(node)) {
                    building.known.insert(node, self.consts.len() as ConstId);
                }
                self.consts.push(term);
                continue;
            }
            meter.consume_fuel(SMALL_CONSTANT, heap)?;
            if let Some(term) = document.build_small(node, heap) {
                self.consts.push(term);
                continue;
            }
            let work = Workspace::new(heap, meter);
            let mut builder = TermBuilder::resume(work, take(&mut self.begun));
            let replay = building.begun.take();
            let mut replay = replay.unwrap_or_else(|| Replay::new(document, node));
            if let Err(stop) = replay.run(document, &mut builder) {
                self.begun = builder.into_partial();
                building.begun = Some(replay);
                return Err(stop);
            }
            self.consts.push(builder.finish());
        }
        Ok(())
    }

    /// Finds the entries that the table does not contain, and adds the terms of those that are no constants yet.
    pub(super) fn keep<H: Heap<Term = T>>(
        &mut self,
        keeping: &mut KeepingTerms,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let Some(source) = &mut keeping.source else {
            return Err(Stop::Abandoned);
        };
        let count = self.entries.len() as Node;
        while keeping.at < count {
            let end = count.min(keeping.at + ENTRIES_A_STEP);
            for node in keeping.at..end {
                if is_outside(source.table.entries[node as usize]) {
                    let known = keeping.known.get(&node).copied();
                    let id = known.unwrap_or(self.consts.len() as ConstId);
                    if known.is_none() {
                        self.consts.push(self.entries.get(heap, node as usize));
                    }
                    source.outside.push((node, id));
                }
            }
            let passed = (end - keeping.at) as usize;
            keeping.at = end;
            meter.consume_fuel(passed / ENTRIES_A_UNIT, heap)?;
        }
        Ok(())
    }
}

/// Returns whether the table does not contain an entry's term.
fn is_outside(entry: Entry) -> bool {
    matches!(entry, Entry::Term(_) | Entry::Long(..))
}

/// Consumes fuel and checks the heap limit, for a walk; without `words` the walk cannot be suspended.
fn consume_fuel<H: Heap>(
    heap: &H,
    meter: &mut Meter,
    fuel: usize,
    words: Option<usize>,
) -> Result<(), Stop> {
    match meter.consume_fuel(fuel, heap) {
        Err(Stop::SliceOver) if words.is_none() && meter.pace() == Pace::Quantum => {}
        counted => counted?,
    }
    meter.check_heap_limit(words.unwrap_or(0), heap)
}
