//! Counters of an observed run: how often each operation ran, how many items it had, how long it
//! took.
//!
//! A watch is plain data; it is taken out of the run while the run is suspended.

use crate::exit::Exit;
use crate::explain::{Detail, Mark, Role, Site, COUNTED_LISTS};
use crate::halt::Halt;
use ptc_term::stop::Stop;
use std::time::Instant;

/// Number of items that are counted in a run that remembers no lists.
const MOST_ITEMS: usize = 4_000_000;

/// The counters of one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// How often it began.
    pub runs: u64,
    /// How often it ended.
    pub ended: u64,
    /// How often its current value was a list.
    pub lists_in: u64,
    /// The number of items of these lists.
    pub items_in: u64,
    /// How often its value was a list.
    pub lists_out: u64,
    /// The number of items of these lists.
    pub items_out: u64,
    /// How often its value was neither nil nor false.
    pub held: u64,
    /// Nanoseconds that it took, without the operations inside it.
    pub nanos: u64,
    /// Words that it built, without the operations inside it.
    pub words: u64,
    /// Nanoseconds from its beginnings to its ends, with those of the tools that were waited for. An operation that runs inside of itself counts
    /// once. This and the next two are known where the operations are [forms](Detail::Forms).
    pub total_nanos: u64,
    /// Words built from its beginnings to its ends.
    pub total_words: u64,
    /// The kinds of its values: a bit for each [`Kind`], at the place of its discriminant.
    pub kinds: u64,
    /// How often it is open now.
    pub depth: u32,
    /// How often it called a tool.
    pub calls: u64,
    /// Nanoseconds that the answers took.
    pub waited: u64,
    /// How often the run was suspended in it at the end of a slice or quantum.
    pub breaks: u64,
    /// For each of its look-ups: how many values were examined, and how many had the key. Rows are
    /// examined up to the first one that has it.
    pub keys: Vec<(u64, u64)>,
    /// How many values it was given for its role, and how many of them were not null. Those of rows are examined up to the
    /// first one that is not null.
    pub values: (u64, u64),
    /// How many of the values that a conversion has made were not null.
    pub made: u64,
    /// What the values are for.
    pub role: Role,
}

impl Counts {
    /// Returns whether each key was found, with a value that is not null where that matters.
    pub(super) fn has_all_keys(&self) -> bool {
        self.keys.iter().all(|(_, found)| *found > 0) && self.has_value()
    }

    /// Returns whether a value was found that is not null.
    fn has_value(&self) -> bool {
        match self.role {
            Role::Converts => self.made > 0,
            Role::Totals => self.values.1 > 0,
            Role::Other => true,
        }
    }
}

/// An operation that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    site: u32,
    /// Number of activations around the one that it is in.
    callers: usize,
    /// The time of the watch when it began.
    nanos: u64,
    /// Its words at that time.
    words: u64,
}

/// What a run and each of its rounds have for themselves.
#[derive(Debug, Default)]
pub struct Progress {
    /// The operations that have begun and not ended, innermost last.
    open: Vec<Open>,
    /// Number of words counted so far.
    words: usize,
    /// Start of the wait for a tool.
    away: Option<Instant>,
}

/// The counters of an observed run.
#[derive(Debug)]
pub struct Watch {
    pub(super) counts: Vec<Counts>,
    progress: Progress,
    /// Start of the time that counts for the innermost operation; `None` while the watch itself works.
    pub(super) since: Option<Instant>,
    /// Nanoseconds of all operations so far, with those of the tools that were waited for.
    nanos: u64,
    /// Words of all operations so far.
    built: u64,
    /// Number of items that may still be counted, where lists are not remembered.
    pub(super) items_left: usize,
    /// The lengths of the remembered lists. `next` is the index that is overwritten next.
    pub(super) lengths: [Option<usize>; COUNTED_LISTS as usize],
    pub(super) next: usize,
    pub(super) detail: Detail,
}

impl Watch {
    /// Creates a watch for a run from its start.
    pub fn new(sites: &[Site], detail: Detail) -> Self {
        let counts = |site: &Site| Counts {
            keys: vec![(0, 0); site.keys.lookups() as usize],
            role: site.role,
            ..Counts::default()
        };
        Watch {
            counts: sites.iter().map(counts).collect(),
            progress: Progress::default(),
            since: None,
            nanos: 0,
            built: 0,
            items_left: MOST_ITEMS,
            lengths: [None; COUNTED_LISTS as usize],
            next: 0,
            detail,
        }
    }

    /// Returns the counters, by the number of the operation.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Returns whether nothing more has to be recorded at a mark, because what it looks for was found.
    #[inline]
    pub(super) fn has_found(&self, mark: Mark) -> bool {
        let counts = |site: u32| &self.counts[site as usize];
        self.detail == Detail::Findings
            && match mark {
                Mark::Keys(site) => counts(site).has_all_keys(),
                Mark::Value(site) | Mark::Current(site) | Mark::Made(site) => {
                    counts(site).has_value()
                }
                _ => false,
            }
    }

    /// Returns the operation in which the run is, or in which it ended early.
    pub fn innermost(&self) -> Option<u32> {
        self.progress.open.last().map(|open| open.site)
    }

    /// Returns what is recorded.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Exchanges what the run has for itself for what one of its rounds has, or back.
    pub fn exchange(&mut self, progress: &mut Progress) {
        std::mem::swap(&mut self.progress, progress);
        self.since = None;
    }

    /// Opens an operation, in an activation with so many around it.
    pub(super) fn open(&mut self, site: u32, callers: usize) {
        let counts = &mut self.counts[site as usize];
        counts.runs += 1;
        counts.depth += 1;
        self.progress.open.push(Open {
            site,
            callers,
            nanos: self.nanos,
            words: self.built,
        });
    }

    /// Leaves the operations that were opened inside of an operation and have not ended, and also the operation itself where `with_it`.
    pub(super) fn leave(&mut self, site: u32, callers: usize, with_it: bool) {
        let is_it = |open: &Open| open.site == site && open.callers == callers;
        let Some(at) = self.progress.open.iter().rposition(is_it) else {
            return;
        };
        for open in self.progress.open.drain(at + usize::from(!with_it)..) {
            let counts = &mut self.counts[open.site as usize];
            counts.depth = counts.depth.saturating_sub(1);
            if counts.depth == 0 {
                counts.total_nanos += self.nanos - open.nanos;
                counts.total_words += self.built - open.words;
            }
        }
    }

    /// Ends a run that will not resume: no process waits for the tool any more.
    pub fn end(&mut self) {
        self.come_back(Instant::now());
        // What did not end has taken its time, too. It stays open, so that it is known where the run has ended.
        for open in &self.progress.open {
            let counts = &mut self.counts[open.site as usize];
            if std::mem::take(&mut counts.depth) > 0 {
                counts.total_nanos += self.nanos - open.nanos;
                counts.total_words += self.built - open.words;
            }
        }
    }

    fn innermost_counts(&mut self) -> Option<&mut Counts> {
        self.counts
            .get_mut(self.progress.open.last()?.site as usize)
    }

    /// Assigns the time and words since the last call to the innermost operation.
    pub(super) fn settle(&mut self, built: usize) -> Instant {
        let now = Instant::now();
        let since = self.since.replace(now);
        let words = built.saturating_sub(std::mem::replace(&mut self.progress.words, built)) as u64;
        let nanos = since.map_or(0, |since| now.duration_since(since).as_nanos()) as u64;
        self.nanos += nanos;
        self.built += words;
        if let Some(counts) = self.innermost_counts() {
            counts.nanos += nanos;
            counts.words += words;
        }
        now
    }

    /// Records that the run resumes; with the answer of a tool, if it waited for one.
    #[cold]
    pub(super) fn resume(&mut self) {
        if self.detail == Detail::Findings {
            return;
        }
        let now = Instant::now();
        self.come_back(now);
        self.since = Some(now);
    }

    fn come_back(&mut self, now: Instant) {
        if let Some(away) = self.progress.away.take() {
            let waited = now.duration_since(away).as_nanos() as u64;
            self.nanos += waited;
            if let Some(counts) = self.innermost_counts() {
                counts.waited += waited;
            }
        }
    }

    /// Records that the run is suspended.
    #[cold]
    pub(super) fn pause<T, F>(&mut self, exit: &Exit<T, F>, built: usize) {
        if self.detail == Detail::Findings {
            return;
        }
        let now = self.settle(built);
        let Some(counts) = self.innermost_counts() else {
            return;
        };
        match exit {
            Exit::Call { .. } => {
                counts.calls += 1;
                self.progress.away = Some(now);
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => counts.breaks += 1,
            _ => {}
        }
    }
}
