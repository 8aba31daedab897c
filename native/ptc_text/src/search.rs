//! Searches for a pattern, bounded and in linear time.
//!
//! Where a search is short even in the worst case, the engine of the `regex` crate runs it in one step. Elsewhere two
//! automata find the match piece by piece, and threads what these cannot decide, and the groups of a long match. A limit
//! can interrupt such a search between two pieces, and it continues there.
//!
//! Texts are UTF-8. In other binaries, which matches are found is not specified.

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

/// The matches of a pattern in a text, from left to right without overlap: those of the `regex` crate's `find_iter`.
#[derive(Debug, Clone, Default)]
pub struct Matches {
    /// Where the search has begun, or begins.
    from: usize,
    /// The end of the match before, if there was one.
    last: Option<usize>,
    /// The match that has been found, and its groups as soon as they have.
    found: Option<(Span, Option<Groups>)>,
    /// The number of matches before it.
    count: usize,
    search: Search,
}

impl Matches {
    /// Returns the next match and its groups; the same again until it is [taken](Self::take). If `count` fails, the
    /// search goes on with the next call.
    pub fn next<E>(
        &mut self,
        pattern: &Pattern,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Match<'_>>, E> {
        let (search, many) = (&mut self.search, self.count >= FEW);
        while self.found.is_none() {
            if self.from > text.len() {
                return Ok(None);
            }
            match pattern.find(text, self.from, many, search, &mut count)? {
                // An empty match at the end of the one before does not count.
                Some((start, end)) if start == end && Some(end) == self.last => {
                    self.from = match end == text.len() {
                        true => text.len() + 1,
                        false => next_boundary(text, end),
                    };
                }
                Some(span) => self.found = Some((span, None)),
                None => self.from = text.len() + 1,
            }
        }
        let Some((span, groups)) = &mut self.found else {
            return Ok(None);
        };
        if groups.is_none() {
            *groups = Some(pattern.groups(text, *span, search, &mut count)?);
        }
        Ok(groups.as_deref().map(|groups| (*span, groups)))
    }

    /// Continues after the match that [`Self::next`] has returned.
    pub fn take(&mut self) {
        if let Some(((_, end), _)) = self.found.take() {
            (self.from, self.last) = (end, Some(end));
            self.count += 1;
        }
    }

    /// Ends the search, see [`Search::end`].
    pub fn end(&mut self, pattern: &Pattern) {
        self.search.end(pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn free(_: usize) -> Result<(), ()> {
        Ok(())
    }

    fn compile(text: &str) -> Pattern {
        Source::read(text).unwrap().compile().unwrap()
    }

    fn all(pattern: &str, text: &str) -> Vec<(usize, usize)> {
        let (pattern, mut matches) = (compile(pattern), Matches::default());
        let next = || {
            let found = matches.next(&pattern, text.as_bytes(), free).unwrap();
            let span = found.map(|(span, _)| span);
            matches.take();
            span
        };
        std::iter::from_fn(next).collect()
    }

    const PATTERNS: &[&str] = &[
        "",
        "a",
        "a*",
        "a+?",
        "x?",
        "\\b",
        "^",
        "$",
        "(?m)^.*$",
        "\\bab\\b",
        "[^a]*",
        "ž",
        "(?:a|ab)(?:c|bcd)*",
        "b$",
        ".",
        "(?i)A",
        "\\w+",
        "\\d+|[a-c]{2,3}",
        "(?s).*",
        "\\B",
        "a{2}|b{3,}",
        "é?",
        ".*?b",
        "(ab)+",
    ];
    const TEXTS: &[&str] = &[
        "",
        "a",
        "aab",
        "abcd abc",
        "žluť ab 12",
        "e\u{301}x",
        "a\nb\n",
        "aaa bbb",
        "ababxab",
        "é😀é",
        " ",
        "xaxbx",
    ];

    #[test]
    fn matches_are_those_of_the_engine() {
        for pattern in PATTERNS {
            let compiled = compile(pattern);
            for text in TEXTS {
                let engine: Vec<_> = compiled.regex.find_iter(*text).collect();
                let engine: Vec<_> = engine.iter().map(|m| (m.start(), m.end())).collect();
                assert_eq!(all(pattern, text), engine, "{pattern} in {text:?}");
            }
        }
    }

    /// All matches of a pattern in long-text manner: by automata, or by threads; `count` fails every time but the next.
    fn all_by_steps(pattern: &Pattern, text: &str, with_threads: bool) -> Vec<(Span, Groups)> {
        let (mut from, mut last, mut all) = (0, None, vec![]);
        let mut search = Search::default();
        while from <= text.len() {
            let found = by_steps(pattern, text, from, with_threads, &mut search);
            match found {
                None => break,
                Some((start, end)) if start == end && Some(end) == last => {
                    from = if end == text.len() {
                        end + 1
                    } else {
                        next_boundary(text.as_bytes(), end)
                    };
                }
                Some(span) => {
                    let groups = pattern.names().len();
                    let slots = pattern.by_threads(
                        text.as_bytes(),
                        span,
                        false,
                        groups.max(1),
                        &mut search,
                        &mut free,
                    );
                    let (slots, _) = slots.unwrap().unwrap().as_chunks::<2>();
                    assert_eq!((slots[0][0], slots[0][1]), span);
                    let place =
                        |[start, end]: &[usize; 2]| (*end != NONE).then_some((*start, *end));
                    all.push((span, slots[1..=groups].iter().map(place).collect()));
                    (from, last) = (span.1, Some(span.1));
                }
            }
        }
        search.end(pattern);
        all
    }

    fn by_steps(
        pattern: &Pattern,
        text: &str,
        at: usize,
        with_threads: bool,
        search: &mut Search,
    ) -> Option<Span> {
        let mut fails = false;
        loop {
            let mut count = |_| {
                fails = !fails;
                if fails {
                    Err(())
                } else {
                    Ok(())
                }
            };
            let found = match with_threads {
                true => pattern
                    .by_threads(
                        text.as_bytes(),
                        (at, text.len()),
                        false,
                        0,
                        search,
                        &mut count,
                    )
                    .map(|slots| slots.map(|slots| (slots[0], slots[1]))),
                false => pattern.find_by_steps(text.as_bytes(), at, false, search, &mut count),
            };
            if let Ok(found) = found {
                return found;
            }
        }
    }

    #[test]
    fn step_by_step_the_matches_are_the_same() {
        for pattern in PATTERNS.iter().chain(GROUPED) {
            let compiled = compile(pattern);
            for text in TEXTS {
                let mut engine = vec![];
                for captures in compiled.regex.captures_iter(*text) {
                    let span = captures.get_match().unwrap();
                    let place = |index| captures.get_group(index).map(|it| (it.start, it.end));
                    let groups: Groups = (1..=compiled.names().len()).map(place).collect();
                    engine.push(((span.start(), span.end()), groups));
                }
                for with_threads in [false, true] {
                    let steps = all_by_steps(&compiled, text, with_threads);
                    assert_eq!(steps, engine, "{pattern} in {text:?}, {with_threads}");
                }
                let mut search = Search::default();
                let found = compiled.is_in_long(text.as_bytes(), &mut search, free);
                assert_eq!(found, Ok(!engine.is_empty()), "{pattern} in {text:?}");
            }
        }
    }

    const GROUPED: &[&str] = &[
        "(a)|(b)(c)?",
        "\\b(\\w+)\\b",
        "(a*)(a*)",
        "(?:(a)|b)*",
        "(\\w)(\\W)?(?<n>.)",
        "(a|ab)(c|bcd)?",
        "()|x",
        "(x?)*y?",
        "(?:(a+)|(b+?))+$",
    ];

    #[test]
    fn long_texts_are_searched_in_chunks() {
        let text = "žluť ab 12 aab; ".repeat(300) + &" ".repeat(150_000);
        let text = text.repeat(4);
        for pattern in [
            "\\bž",
            "ab",
            "a|ab",
            "[a-c]{2,3}",
            "\\b",
            ";",
            "zz",
            "(a)(?:b|ab)?;",
            "\\w{3}",
        ] {
            let compiled = compile(pattern);
            let engine = compiled
                .regex
                .find_iter(&text)
                .map(|it| (it.start(), it.end()));
            assert_eq!(all(pattern, &text), engine.collect::<Vec<_>>(), "{pattern}");
            let mut search = Search::default();
            let found = compiled.is_in_long(text.as_bytes(), &mut search, free);
            assert_eq!(found, Ok(compiled.regex.is_match(&text)), "{pattern}");
        }
    }

    #[test]
    fn the_groups_of_long_matches() {
        let text = "ab".repeat(600_000) + "!";
        let pattern = compile("((?:a|b)*)(.)$");
        let mut matches = Matches::default();
        let found = matches.next(&pattern, text.as_bytes(), free).unwrap();
        let (span, groups) = found.unwrap();
        assert_eq!(span, (0, 1_200_001));
        assert_eq!(
            groups,
            &[Some((0, 1_200_000)), Some((1_200_000, 1_200_001))]
        );
        matches.take();
        assert_eq!(matches.next(&pattern, text.as_bytes(), free), Ok(None));
    }

    #[test]
    fn a_search_goes_on_where_counting_has_failed() {
        for (pattern, text, expected) in [
            ("[ab]*a[ab]{100}c", "ab".repeat(20_000), vec![]),
            ("\\bž+ ", "xž ž ".repeat(20_000), vec![1; 20_000]),
            ("(\\w+) x", "ab".repeat(20_000) + " x", vec![1]),
        ] {
            let pattern = compile(pattern);
            let (mut matches, mut found, mut calls) = (Matches::default(), vec![], 0);
            loop {
                let mut count = |cost: usize| {
                    assert!(cost < 70_000 || pattern.built().is_none(), "{cost}");
                    calls += 1;
                    (calls % 3 > 0).then_some(()).ok_or(())
                };
                match matches.next(&pattern, text.as_bytes(), &mut count) {
                    Err(()) => {}
                    Ok(None) => break,
                    Ok(Some(_)) => {
                        matches.take();
                        found.push(1);
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_search_ends_where_counting_fails() {
        let pattern = compile("[ab]*a[ab]{200}c");
        let text = "ab".repeat(500_000);
        let times = (0..5).map(|_| {
            let (mut left, mut search) = (100, Search::default());
            let mut count = |_| {
                left -= 1;
                (left > 0).then_some(()).ok_or("over")
            };
            let before = std::time::Instant::now();
            let ended = pattern.is_in_long(text.as_bytes(), &mut search, &mut count);
            assert_eq!(ended, Err("over"));
            before.elapsed()
        });
        // A machine may stand still in one of them.
        assert!(times.min() < Some(std::time::Duration::from_secs(2)));
    }
}
