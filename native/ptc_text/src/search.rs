//! Searches for a pattern, bounded and in linear time.
//!
//! Where a search is short even in the worst case, the engine of the `regex` crate runs it in one step. Elsewhere two
//! automata find the match byte by byte, so that a limit can end the search at any of them; the engine then finds the
//! groups of the match.
//!
//! Texts are UTF-8. In other binaries, which matches are found is not specified.

use crate::pattern::{Automata, Pattern};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input};

/// Bytes times states that a search in one step may have.
const SHORT: usize = 4_000_000;
/// Bytes per unit of fuel of a usual search.
const BYTES_A_UNIT: usize = 4;
/// Bytes times states per unit, of the worst search in one step.
const WORST_A_UNIT: usize = 64;
/// States that a step in a long text visits before it asks.
const STATES_BETWEEN_LOOKS: usize = 20_000;
/// States per unit of fuel, of the worst step.
const STATES_A_UNIT: usize = 4;

/// Where the groups of a match are: their bytes, without the whole match.
pub type Groups = Vec<Option<(usize, usize)>>;

impl Pattern {
    /// Returns whether the search of a text runs in one step.
    fn is_short(&self, length: usize) -> bool {
        length.saturating_mul(self.weight()) <= SHORT
    }

    /// Returns the units of fuel of a search in one step: more than it usually takes.
    #[inline]
    fn cost(&self, length: usize) -> usize {
        4 + length / BYTES_A_UNIT + length.saturating_mul(self.weight()) / WORST_A_UNIT
    }

    /// Returns whether the text has a match. Calls `count` before each part of the work, with its cost.
    #[inline]
    pub fn is_match<E>(
        &self,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        if !self.is_short(text.len()) {
            if let Some(found) = self.find_by_steps(text, 0, true, &mut count)? {
                return Ok(found.is_some());
            }
        }
        count(self.cost(text.len()))?;
        Ok(self.regex.is_match(text))
    }

    /// Returns where the first match from `at` on is; what is before `at` counts as context.
    fn find<E>(
        &self,
        text: &[u8],
        at: usize,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<(usize, usize)>, E> {
        if !self.is_short(text.len() - at) {
            if let Some(found) = self.find_by_steps(text, at, false, count)? {
                return Ok(found);
            }
        }
        count(self.cost(text.len() - at))?;
        let found = self.regex.find(Input::new(text).range(at..));
        Ok(found.map(|found| (found.start(), found.end())))
    }

    /// Returns where the groups of a match are. A group without a part has no place.
    pub fn groups<E>(
        &self,
        text: &[u8],
        found: (usize, usize),
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Groups, E> {
        if self.names().len() == 0 {
            return Ok(vec![]);
        }
        count(self.cost(found.1 - found.0))?;
        let mut captures = self.regex.create_captures();
        let input = Input::new(text)
            .range(found.0..found.1)
            .anchored(Anchored::Yes);
        self.regex.search_captures(&input, &mut captures);
        let place = |index| captures.get_group(index).map(|span| (span.start, span.end));
        Ok((1..=self.names().len()).map(place).collect())
    }

    /// Finds the first match byte by byte; `None` if the pattern cannot be searched so in this text. If only
    /// whether there is a match is `asked`, its place is any.
    fn find_by_steps<E>(
        &self,
        text: &[u8],
        at: usize,
        asked: bool,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Option<(usize, usize)>>, E> {
        count(self.cost_of_automata())?;
        let Some(automata) = self.automata() else {
            return Ok(None);
        };
        let mut from = at;
        loop {
            let input = Input::new(text).range(from..);
            let run = Run::new(&automata.forward, automata);
            let end = match run.forward(&input, asked, count)? {
                Found::Gone => return Ok(None),
                Found::None => return Ok(Some(None)),
                Found::At(end) if asked => return Ok(Some(Some((from, end)))),
                Found::At(end) => end,
            };
            let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
            let run = Run::new(&automata.reverse, automata);
            let start = match run.reverse(&input, count)? {
                Found::At(start) => start,
                Found::None | Found::Gone => return Ok(None),
            };
            // An empty match within a character is none.
            if start < end || is_boundary(text, start) {
                return Ok(Some(Some((start, end))));
            }
            from = next_boundary(text, end);
        }
    }
}

/// The result of a run of an automaton.
enum Found {
    At(usize),
    None,
    /// The automaton cannot decide this text.
    Gone,
}

/// A run of an automaton.
struct Run<'a> {
    dfa: &'a DFA,
    cache: Cache,
    /// Bytes between two calls of `count`.
    between: usize,
}

impl<'a> Run<'a> {
    fn new(dfa: &'a DFA, automata: &Automata) -> Self {
        Run {
            cache: dfa.create_cache(),
            dfa,
            between: 1 + STATES_BETWEEN_LOOKS / automata.states.max(1),
        }
    }

    fn cost(&self) -> usize {
        STATES_BETWEEN_LOOKS / STATES_A_UNIT
    }

    /// Returns the end of the leftmost match; if `asked`, of any.
    fn forward<E>(
        mut self,
        input: &Input,
        asked: bool,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Found, E> {
        let Ok(mut state) = self.dfa.start_state_forward(&mut self.cache, input) else {
            return Ok(Found::Gone);
        };
        let (start, end) = (input.start(), input.end());
        let (mut found, mut at) = (Found::None, start);
        for piece in input.haystack()[start..end].chunks(self.between) {
            count(self.cost())?;
            for byte in piece {
                match self.dfa.next_state(&mut self.cache, state, *byte) {
                    Ok(next) => state = next,
                    Err(_) => return Ok(Found::Gone),
                }
                if state.is_tagged() {
                    if state.is_match() {
                        // A match is reported one byte late.
                        found = Found::At(at);
                        if asked {
                            return Ok(found);
                        }
                    } else if state.is_dead() {
                        return Ok(found);
                    } else if state.is_quit() {
                        return Ok(Found::Gone);
                    }
                }
                at += 1;
            }
        }
        match self.dfa.next_eoi_state(&mut self.cache, state) {
            Ok(last) if last.is_match() => Ok(Found::At(end)),
            Ok(last) if last.is_quit() => Ok(Found::Gone),
            Ok(_) => Ok(found),
            Err(_) => Ok(Found::Gone),
        }
    }

    /// Returns the start of the longest match that ends at the end of the input.
    fn reverse<E>(
        mut self,
        input: &Input,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Found, E> {
        let Ok(mut state) = self.dfa.start_state_reverse(&mut self.cache, input) else {
            return Ok(Found::Gone);
        };
        let (bytes, start) = (input.haystack(), input.start());
        let (mut found, mut at) = (Found::None, input.end());
        for piece in bytes[start..input.end()].rchunks(self.between) {
            count(self.cost())?;
            for byte in piece.iter().rev() {
                match self.dfa.next_state(&mut self.cache, state, *byte) {
                    Ok(next) => state = next,
                    Err(_) => return Ok(Found::Gone),
                }
                if state.is_tagged() {
                    if state.is_match() {
                        found = Found::At(at);
                    } else if state.is_dead() {
                        return Ok(found);
                    } else if state.is_quit() {
                        return Ok(Found::Gone);
                    }
                }
                at -= 1;
            }
        }
        let last = match start {
            0 => self.dfa.next_eoi_state(&mut self.cache, state),
            _ => self
                .dfa
                .next_state(&mut self.cache, state, bytes[start - 1]),
        };
        match last {
            Ok(last) if last.is_match() => Ok(Found::At(start)),
            Ok(last) if last.is_quit() => Ok(Found::Gone),
            Ok(_) => Ok(found),
            Err(_) => Ok(Found::Gone),
        }
    }
}

/// Returns whether a character begins or ends here.
fn is_boundary(text: &[u8], at: usize) -> bool {
    !matches!(text.get(at), Some(0x80..=0xBF))
}

/// Returns the end of the character that begins here.
fn next_boundary(text: &[u8], at: usize) -> usize {
    let mut boundaries = (at + 1..text.len()).filter(|at| is_boundary(text, *at));
    boundaries.next().unwrap_or(text.len())
}

/// The matches of a pattern in a text, from left to right without overlap: those of the `regex` crate's `find_iter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matches {
    /// Where the next search begins.
    at: usize,
    /// The end of the match before, if there was one.
    last: Option<usize>,
}

impl Matches {
    /// The matches after one that ends here.
    pub fn after(end: usize) -> Self {
        Matches {
            at: end,
            last: Some(end),
        }
    }

    /// Returns the end of the last match.
    pub fn end(&self) -> usize {
        self.at
    }

    /// Returns the next match, and continues after it. If `count` fails, the search begins again at the same place.
    pub fn next<E>(
        &mut self,
        pattern: &Pattern,
        text: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<(usize, usize)>, E> {
        if self.at > text.len() {
            return Ok(None);
        }
        let mut found = pattern.find(text, self.at, &mut count)?;
        if found.is_some_and(|(start, end)| start == end && Some(end) == self.last) {
            // An empty match at the end of the one before does not count.
            if self.at == text.len() {
                return Ok(None);
            }
            found = pattern.find(text, next_boundary(text, self.at), &mut count)?;
        }
        if let Some((_, end)) = found {
            (self.at, self.last) = (end, Some(end));
        }
        Ok(found)
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
        std::iter::from_fn(|| matches.next(&pattern, text.as_bytes(), free).unwrap()).collect()
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

    #[test]
    fn step_by_step_the_matches_are_the_same() {
        for pattern in PATTERNS {
            let compiled = compile(pattern);
            for text in TEXTS {
                for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let Some(steps) = compiled
                        .find_by_steps(text.as_bytes(), at, false, &mut free)
                        .unwrap()
                    else {
                        assert!(
                            pattern.to_lowercase().contains("\\b"),
                            "{pattern} in {text:?}"
                        );
                        continue;
                    };
                    let engine = compiled.regex.find(Input::new(*text).range(at..));
                    let engine = engine.map(|m| (m.start(), m.end()));
                    assert_eq!(steps, engine, "{pattern} in {text:?} from {at}");
                    let asked = compiled
                        .find_by_steps(text.as_bytes(), at, true, &mut free)
                        .unwrap();
                    assert_eq!(
                        asked.unwrap().is_some(),
                        engine.is_some(),
                        "{pattern} in {text:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn groups_of_a_match() {
        let pattern = compile("(a)|(b)(c)?");
        assert_eq!(
            pattern.groups(b"xb", (1, 2), free),
            Ok(vec![None, Some((1, 2)), None])
        );
        let pattern = compile("\\b(\\w+)\\b");
        assert_eq!(
            pattern.groups(b"ab cd", (3, 5), free),
            Ok(vec![Some((3, 5))])
        );
    }

    #[test]
    fn a_search_ends_where_counting_fails() {
        let pattern = compile("[ab]*a[ab]{200}c");
        let text = "ab".repeat(500_000);
        let mut left = 1_000;
        let mut count = |_| {
            left -= 1;
            (left > 0).then_some(()).ok_or("over")
        };
        let before = std::time::Instant::now();
        assert_eq!(pattern.is_match(text.as_bytes(), &mut count), Err("over"));
        assert!(before.elapsed() < std::time::Duration::from_secs(2));
    }
}
