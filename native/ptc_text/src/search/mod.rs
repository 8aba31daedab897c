//! Searches for a pattern, bounded and in linear time.
//!
//! Where a search is short even in the worst case, the engine of the `regex` crate runs it in one step. Elsewhere two
//! automata find the match piece by piece, and threads what these cannot decide, and the groups of a long match. A limit
//! can interrupt such a search between two pieces, and it continues there.
//!
//! Texts are UTF-8. In other binaries, which matches are found is not specified.

mod matches;
#[cfg(test)]
mod tests;

pub use matches::Matches;

use crate::automata::{Caches, Run};
use crate::pattern::Pattern;
use crate::threads::{Threads, NONE};
use regex_automata::{Anchored, Input};

/// Bytes times states that a search in one step may have: most of a millisecond in the worst case.
const SHORT: usize = 1_500_000;
/// Bytes per unit of fuel of a usual search.
const BYTES_A_UNIT: usize = 4;
/// Bytes times states per unit, of the worst search in one step.
const WORST_A_UNIT: usize = 64;
/// Number of matches after which a search is not run in one step any more: the rest of the text counts for each.
const FEW: usize = 16;

/// A chunk is at least this many times as long as the longest match, and as this many bytes.
const FEW_TIMES: usize = 4;
const LEAST: usize = 1_024;
/// Units of fuel that are counted together.
pub(crate) const UNITS_COUNTED: usize = 500;

/// A match: its bytes.
pub type Span = (usize, usize);

/// A match and its groups, as in [`Matches::next`]; a group without a part has no place.
pub type Match<'m> = (Span, &'m [Option<Span>]);

/// Where the groups of a match are: their bytes, without the whole match.
type Groups = Vec<Option<(usize, usize)>>;

/// A search that can be interrupted, and what it keeps for the next one in the same text.
#[derive(Debug, Clone, Default)]
pub struct Search {
    pub(crate) stage: Stage,
    pub(crate) caches: Option<Box<Caches>>,
    threads: Option<Box<Threads>>,
    /// Units of fuel of the work that is done and not counted yet.
    pub(crate) debt: usize,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Stage {
    #[default]
    NotBegun,
    /// The engine runs in chunks of the text, the next one from here on.
    Chunks(usize),
    /// An automaton runs.
    Runs(Run),
    /// The automata cannot decide this text.
    Undecided,
    /// The threads run.
    Threads,
}

impl Search {
    /// Ends the search: what was built of the automata stays for others.
    pub fn end(&mut self, pattern: &Pattern) {
        if let (Some(caches), Some(automata)) = (self.caches.take(), pattern.built()) {
            automata.keep(*caches);
        }
    }
}

impl Pattern {
    /// Returns whether the search of a text of this length runs in one step.
    pub fn is_short(&self, length: usize) -> bool {
        length.saturating_mul(self.weight()) <= SHORT
    }

    /// Returns the units of fuel of a search in one step: more than it usually takes.
    #[inline]
    fn cost(&self, length: usize) -> usize {
        4 + length / BYTES_A_UNIT + length.saturating_mul(self.weight()) / WORST_A_UNIT
    }

    /// Returns whether a text whose search is short has a match. Calls `count` before the search, with its cost.
    #[inline]
    pub fn is_in_short<E>(
        &self,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        count(self.cost(text.len()))?;
        Ok(self.regex.is_match(text))
    }

    /// Returns whether a long text has a match. Calls `count` between the pieces of the work, with their cost. When that
    /// fails, the search can go on.
    pub fn is_in_long<E>(
        &self,
        text: &[u8],
        search: &mut Search,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        let found = self.find_by_steps(text, 0, true, search, &mut count)?;
        search.end(self);
        Ok(found.is_some())
    }

    /// Returns where the first match from `at` on is; what is before `at` counts as context.
    fn find<E>(
        &self,
        text: &[u8],
        at: usize,
        many: bool,
        search: &mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        match many || !self.is_short(text.len() - at) {
            true => self.find_by_steps(text, at, false, search, count),
            false => self.find_in_one_step(text, at, count),
        }
    }

    fn find_in_one_step<E>(
        &self,
        text: &[u8],
        at: usize,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        count(self.cost(text.len() - at))?;
        let found = self.regex.find(Input::new(text).range(at..));
        Ok(found.map(|found| (found.start(), found.end())))
    }

    /// Finds the first match piece by piece. If only whether there is one is `asked`, its place is any.
    fn find_by_steps<E>(
        &self,
        text: &[u8],
        at: usize,
        asked: bool,
        search: &mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        if let Some(longest) = self
            .longest()
            .filter(|it| self.is_short(FEW_TIMES * it.max(&LEAST)))
        {
            return self.find_in_chunks(text, (at, longest), asked, search, count);
        }
        if let Stage::NotBegun = search.stage {
            count(self.cost_of_automata())?;
        }
        if let (Stage::NotBegun | Stage::Runs(_), Some(automata)) = (search.stage, self.automata())
        {
            if let Some(found) = automata.find(text, at, asked, search, count)? {
                return Ok(found);
            }
            search.stage = Stage::Undecided;
        }
        if !matches!(search.stage, Stage::Threads) {
            count(self.cost_of_nfa())?;
        }
        match self.nfa() {
            Some(_) => {
                let slots = self.by_threads(text, (at, text.len()), asked, 0, search, count)?;
                Ok(slots.map(|slots| (slots[0], slots[1])))
            }
            None => {
                let found = self.find_in_one_step(text, at, count)?;
                search.stage = Stage::NotBegun;
                Ok(found)
            }
        }
    }

    /// Lets the engine search chunks of the text that are many times as long as the longest match. What it finds far enough
    /// before the end of a chunk is what it would find in the whole text.
    fn find_in_chunks<E>(
        &self,
        text: &[u8],
        (at, longest): (usize, usize),
        asked: bool,
        search: &mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        let chunk = SHORT / self.weight().max(1);
        let mut from = match search.stage {
            Stage::Chunks(from) => from,
            _ => at,
        };
        let found = loop {
            search.stage = Stage::Chunks(from);
            if search.debt >= UNITS_COUNTED {
                count(search.debt)?;
                search.debt = 0;
            }
            let end = text.len().min(from.saturating_add(chunk));
            let found = self.regex.find(Input::new(text).range(from..end));
            let passed = found.as_ref().map_or(end, |found| found.end()) - from;
            search.debt += 4 + passed / BYTES_A_UNIT;
            let is_whole = |start: usize| asked || end == text.len() || start + longest <= end;
            match found {
                Some(found) if is_whole(found.start()) => break Some((found.start(), found.end())),
                Some(found) => from = found.start(),
                None if end == text.len() => break None,
                None => from = next_boundary(text, end - longest),
            }
        };
        search.stage = Stage::NotBegun;
        Ok(found)
    }

    /// Runs threads in a part of the text. If groups are wanted, it is the part that has matched. Returns the places of
    /// the match and of its groups.
    fn by_threads<'s, E>(
        &self,
        text: &[u8],
        (start, end): Span,
        asked: bool,
        groups: usize,
        search: &'s mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<&'s [usize]>, E> {
        let Some(nfa) = self.nfa() else {
            return Ok(None);
        };
        let threads = search.threads.get_or_insert_default();
        if !matches!(search.stage, Stage::Threads) {
            threads.begin(nfa, start, groups);
            search.stage = Stage::Threads;
        }
        threads.run(nfa, text, end, asked, count)?;
        search.stage = Stage::NotBegun;
        Ok(threads.found())
    }

    /// Returns where the groups of a match are. A group without a part has no place.
    fn groups<E>(
        &self,
        text: &[u8],
        found: Span,
        search: &mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Groups, E> {
        let groups = self.names().len();
        if groups == 0 {
            return Ok(vec![]);
        }
        if !self.is_short(found.1 - found.0) {
            if let Stage::NotBegun = search.stage {
                count(self.cost_of_nfa())?;
            }
            let slots = self.by_threads(text, found, false, groups, search, count)?;
            if let Some(slots) = slots {
                let (spans, _) = slots.as_chunks::<2>();
                let place = |[start, end]: &[usize; 2]| (*end != NONE).then_some((*start, *end));
                return Ok(spans[1..].iter().map(place).collect());
            }
        }
        count(self.cost(found.1 - found.0))?;
        let mut captures = self.regex.create_captures();
        let input = Input::new(text)
            .range(found.0..found.1)
            .anchored(Anchored::Yes);
        self.regex.search_captures(&input, &mut captures);
        let place = |index| captures.get_group(index).map(|span| (span.start, span.end));
        Ok((1..=groups).map(place).collect())
    }
}

/// Returns whether a character begins or ends here.
pub(crate) fn is_boundary(text: &[u8], at: usize) -> bool {
    !matches!(text.get(at), Some(0x80..=0xBF))
}

/// Returns the end of the character that begins here.
pub(crate) fn next_boundary(text: &[u8], at: usize) -> usize {
    let mut boundaries = (at + 1..text.len()).filter(|at| is_boundary(text, *at));
    boundaries.next().unwrap_or(text.len())
}
