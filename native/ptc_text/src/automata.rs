//! The two automata of a pattern, which find a match in a long text: one its end, one its start. They are built while they
//! run, and can be left between two pieces of the text.

use crate::pattern::{build, CACHE};
use crate::search::{is_boundary, next_boundary, Search, Span, Stage, UNITS_COUNTED};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::LazyStateID;
use regex_automata::nfa::thompson::{WhichCaptures, NFA};
use regex_automata::{Anchored, Input, MatchKind};
use std::sync::Mutex;

/// States that a piece visits at most, but for its last byte.
const STATES_A_PIECE: usize = 20_000;
/// Bytes of the longest piece.
const LONGEST_PIECE: usize = 4_096;
/// Bytes of a piece per unit of fuel.
const BYTES_A_UNIT: usize = 8;
/// Bytes that an automaton grows by per unit.
const GROWTH_A_UNIT: usize = 4;
/// Number of caches that are kept for the next searches.
const CACHES: usize = 4;

/// One automaton for the end of a match, one for its start.
#[derive(Debug)]
pub(crate) struct Automata {
    forward: DFA,
    reverse: DFA,
    /// Their largest number of states.
    states: usize,
    /// What earlier searches have built of them.
    caches: Mutex<Vec<Caches>>,
}

/// The built parts of the automata.
#[derive(Debug, Clone)]
pub(crate) struct Caches {
    forward: Cache,
    reverse: Cache,
}

/// The run of an automaton in a part of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    reverse: bool,
    start: usize,
    end: usize,
    at: usize,
    state: LazyStateID,
    found: Option<usize>,
}

/// Why a run ends in a piece.
enum Ended {
    /// Nothing more can be found.
    Decided,
    /// The automaton cannot decide this text.
    Gone,
}

impl Clone for Automata {
    fn clone(&self) -> Self {
        Automata {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            states: self.states,
            caches: Mutex::default(),
        }
    }
}

impl Automata {
    /// Builds the automata of a pattern; `None` for the few patterns that have none.
    pub(crate) fn new(text: &str) -> Option<Box<Self>> {
        let dfa = |nfa: NFA, kind| {
            let config = DFA::config()
                .match_kind(kind)
                .unicode_word_boundary(true)
                .cache_capacity(CACHE)
                .skip_cache_capacity_check(true);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        let nfa = |reverse| build(text, reverse, WhichCaptures::None);
        let (forward, reverse) = (nfa(false)?, nfa(true)?);
        let states = forward.states().len().max(reverse.states().len());
        Some(Box::new(Automata {
            forward: dfa(forward, MatchKind::LeftmostFirst)?,
            reverse: dfa(reverse, MatchKind::All)?,
            states,
            caches: Mutex::default(),
        }))
    }

    /// Returns what an earlier search has built, or nothing built. Never waits.
    fn caches(&self) -> Caches {
        let kept = self.caches.try_lock().ok().and_then(|mut kept| kept.pop());
        kept.unwrap_or_else(|| Caches {
            forward: self.forward.create_cache(),
            reverse: self.reverse.create_cache(),
        })
    }

    /// Keeps what a search has built, unless others do so now.
    pub(crate) fn keep(&self, caches: Caches) {
        if let Ok(mut kept) = self.caches.try_lock() {
            if kept.len() < CACHES {
                kept.push(caches);
            }
        }
    }

    /// Finds the first match from `at` on; `None` if the automata cannot decide this text. If only whether there is one is
    /// `asked`, its place is any.
    pub(crate) fn find<E>(
        &self,
        text: &[u8],
        at: usize,
        asked: bool,
        search: &mut Search,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Option<Span>>, E> {
        let Search {
            stage,
            caches,
            debt,
            ..
        } = search;
        let caches = caches.get_or_insert_with(|| Box::new(self.caches()));
        let mut next = match stage {
            Stage::Runs(_) => None,
            _ => Some((false, at, text.len())),
        };
        loop {
            if let Some((reverse, start, end)) = next.take() {
                let begun = self.begin(text, reverse, (start, end), caches);
                let Some(run) = begun else { return Ok(None) };
                *stage = Stage::Runs(run);
            }
            let Stage::Runs(run) = stage else {
                return Ok(None);
            };
            let ended = self.run(text, asked, run, caches, debt, count)?;
            let run = *run;
            *stage = Stage::NotBegun;
            let (start, found) = match (ended, run.found) {
                (Ended::Gone, _) => return Ok(None),
                (Ended::Decided, None) if run.reverse => return Ok(None),
                (Ended::Decided, None) => return Ok(Some(None)),
                (Ended::Decided, Some(found)) => (run.start, found),
            };
            next = match run.reverse {
                false if asked => return Ok(Some(Some((start, found)))),
                false => Some((true, start, found)),
                true if found < run.end || is_boundary(text, found) => {
                    return Ok(Some(Some((found, run.end))))
                }
                // An empty match within a character is none.
                true => Some((false, next_boundary(text, run.end), text.len())),
            };
        }
    }

    /// Begins a run; `None` if the automaton cannot decide this text.
    fn begin(
        &self,
        text: &[u8],
        reverse: bool,
        (start, end): Span,
        caches: &mut Caches,
    ) -> Option<Run> {
        let input = Input::new(text).range(start..end);
        let state = match reverse {
            false => {
                let cache = &mut caches.forward;
                self.forward.start_state_forward(cache, &input)
            }
            true => {
                let input = input.anchored(Anchored::Yes);
                let cache = &mut caches.reverse;
                self.reverse.start_state_reverse(cache, &input)
            }
        };
        Some(Run {
            reverse,
            start,
            end,
            at: if reverse { end } else { start },
            state: state.ok()?,
            found: None,
        })
    }

    /// Runs an automaton to its end.
    fn run<E>(
        &self,
        text: &[u8],
        asked: bool,
        run: &mut Run,
        caches: &mut Caches,
        debt: &mut usize,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Ended, E> {
        let longest = (1 + STATES_A_PIECE / self.states.max(1)).min(LONGEST_PIECE);
        let (dfa, cache) = match run.reverse {
            false => (&self.forward, &mut caches.forward),
            true => (&self.reverse, &mut caches.reverse),
        };
        loop {
            if *debt >= UNITS_COUNTED {
                count(*debt)?;
                *debt = 0;
            }
            let before = (run.at, cache.memory_usage());
            let ended = match run.reverse {
                false if run.at < run.end => {
                    let stop = run.end.min(run.at + longest);
                    let bytes = text[run.at..stop].iter();
                    run.piece(dfa, cache, bytes, asked, 1)
                }
                true if run.at > run.start => {
                    let stop = run.start.max(run.at.saturating_sub(longest));
                    let bytes = text[stop..run.at].iter().rev();
                    run.piece(dfa, cache, bytes, asked, usize::MAX)
                }
                _ => Some(run.last(dfa, cache, text)),
            };
            let grown = cache.memory_usage().saturating_sub(before.1);
            *debt += 1 + run.at.abs_diff(before.0) / BYTES_A_UNIT + grown / GROWTH_A_UNIT;
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }
}

impl Run {
    /// Passes a piece, byte by byte; `step` is what each adds to the place.
    #[inline(always)]
    fn piece<'t>(
        &mut self,
        dfa: &DFA,
        cache: &mut Cache,
        bytes: impl Iterator<Item = &'t u8>,
        asked: bool,
        step: usize,
    ) -> Option<Ended> {
        let (mut at, mut state) = (self.at, self.state);
        let mut ended = None;
        for byte in bytes {
            match dfa.next_state(cache, state, *byte) {
                Ok(next) => state = next,
                Err(_) => ended = Some(Ended::Gone),
            }
            if state.is_tagged() {
                if state.is_match() {
                    // A match is reported one byte late.
                    self.found = Some(at);
                    if asked {
                        ended = Some(Ended::Decided);
                    }
                } else if state.is_dead() {
                    ended = Some(Ended::Decided);
                } else if state.is_quit() {
                    ended = Some(Ended::Gone);
                }
            }
            at = at.wrapping_add(step);
            if ended.is_some() {
                break;
            }
        }
        (self.at, self.state) = (at, state);
        ended
    }

    /// Passes the end of the part: what is beyond it counts as context.
    fn last(&mut self, dfa: &DFA, cache: &mut Cache, text: &[u8]) -> Ended {
        let last = match (self.reverse, self.start) {
            (true, start @ 1..) => dfa.next_state(cache, self.state, text[start - 1]),
            _ => dfa.next_eoi_state(cache, self.state),
        };
        match last {
            Ok(last) if last.is_match() => {
                self.found = Some(if self.reverse { self.start } else { self.end });
                Ended::Decided
            }
            Ok(last) if last.is_quit() => Ended::Gone,
            Ok(_) => Ended::Decided,
            Err(_) => Ended::Gone,
        }
    }
}
