//! The simulation of a pattern's automaton, state by state: for what the other automata cannot decide, a Unicode word
//! boundary beside other characters than those of ASCII, and for the groups of a long match.
//!
//! At each place of the text there is a list of threads, the preferred one first. It can be left at each place.

use regex_automata::nfa::thompson::{State, NFA};
use regex_automata::util::primitives::StateID;

/// Visits of states between two calls of `count`.
const VISITS: usize = 2_000;
/// Visits per unit of fuel.
const VISITS_A_UNIT: usize = 2;

/// A place that a group does not have.
pub(crate) const NONE: usize = usize::MAX;

/// The threads at one place of a text.
#[derive(Debug, Clone, Default)]
struct List {
    /// The states that were visited, and where each of them is among these.
    seen: Vec<StateID>,
    places: Vec<u32>,
    /// The states of the threads, and the places of their groups.
    threads: Vec<StateID>,
    slots: Vec<usize>,
}

impl List {
    /// Notes a visit; returns false if the state was visited before.
    fn visit(&mut self, state: StateID) -> bool {
        let place = self.places[state.as_usize()] as usize;
        if self.seen.get(place) == Some(&state) {
            return false;
        }
        self.places[state.as_usize()] = self.seen.len() as u32;
        self.seen.push(state);
        true
    }

    /// Adds the threads that a state leads to without a byte, and notes where they begin and end groups. Returns the
    /// number of states that were visited.
    fn follow(
        &mut self,
        nfa: &NFA,
        text: &[u8],
        at: usize,
        first: StateID,
        (open, slots): (&mut Vec<Visit>, &mut Vec<usize>),
    ) -> usize {
        let mut visits = 0;
        open.push(Visit::State(first));
        while let Some(visit) = open.pop() {
            let state = match visit {
                Visit::State(state) => state,
                Visit::Restore(slot, place) => {
                    slots[slot] = place;
                    continue;
                }
            };
            visits += 1;
            if !self.visit(state) {
                continue;
            }
            match nfa.state(state) {
                State::Fail => {}
                State::Look { look, next } => {
                    if nfa.look_matcher().matches(*look, text, at) {
                        open.push(Visit::State(*next));
                    }
                }
                State::Union { alternates } => {
                    open.extend(alternates.iter().rev().map(|next| Visit::State(*next)));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    open.extend([Visit::State(*alt2), Visit::State(*alt1)]);
                }
                State::Capture { next, slot, .. } => {
                    if let Some(place) = slots.get_mut(slot.as_usize()) {
                        open.push(Visit::Restore(slot.as_usize(), *place));
                        *place = at;
                    }
                    open.push(Visit::State(*next));
                }
                State::ByteRange { .. }
                | State::Sparse(_)
                | State::Dense(_)
                | State::Match { .. } => {
                    self.threads.push(state);
                    self.slots.extend_from_slice(slots);
                }
            }
        }
        visits
    }

    fn clear(&mut self) {
        self.seen.clear();
        self.threads.clear();
        self.slots.clear();
    }
}

/// A step on the way from a state to those that are reached without a byte.
#[derive(Debug, Clone, Copy)]
enum Visit {
    State(StateID),
    /// The way back: the place of a group is what it was.
    Restore(usize, usize),
}

/// A search that has begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads {
    at: usize,
    start: usize,
    /// Whether a match begins at the start only.
    anchored: bool,
    /// The number of places that each thread notes: two for the match, two for each group.
    width: usize,
    now: List,
    next: List,
    open: Vec<Visit>,
    slots: Vec<usize>,
    best: Option<Vec<usize>>,
    visits: usize,
}

impl Threads {
    /// Begins a search from `start` on. If groups are wanted, a match must begin there, and its groups are found.
    pub(crate) fn begin(&mut self, nfa: &NFA, start: usize, groups: usize) {
        (self.at, self.start, self.anchored) = (start, start, groups > 0);
        self.width = 2 + 2 * groups;
        for list in [&mut self.now, &mut self.next] {
            list.clear();
            list.places.resize(nfa.states().len(), 0);
        }
        self.best = None;
    }

    /// Finds the first match that ends at `end` or before; if only whether there is one is `asked`, any. If `count` fails,
    /// the search goes on from where it is.
    pub(crate) fn run<E>(
        &mut self,
        nfa: &NFA,
        text: &[u8],
        end: usize,
        asked: bool,
        count: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.at <= end {
            if self.visits >= VISITS {
                count(self.visits / VISITS_A_UNIT)?;
                self.visits = 0;
            }
            let may_begin = !self.anchored || self.at == self.start;
            let may_begin = may_begin && self.best.is_none();
            if may_begin && super::search::is_boundary(text, self.at) {
                self.slots.clear();
                self.slots.resize(self.width, NONE);
                let way = (&mut self.open, &mut self.slots);
                self.visits += self
                    .now
                    .follow(nfa, text, self.at, nfa.start_anchored(), way);
            } else if self.now.threads.is_empty() && (self.anchored || self.best.is_some()) {
                break;
            }
            let byte = text[..end].get(self.at).copied();
            self.visits += 1;
            self.at += 1;
            if self.step(nfa, text, byte) && asked {
                break;
            }
        }
        Ok(())
    }

    /// Returns the places of the match and of its groups, if there is one.
    pub(crate) fn found(&self) -> Option<&[usize]> {
        self.best.as_deref()
    }

    /// Moves all threads over a byte, or the end; returns whether one of them has matched.
    fn step(&mut self, nfa: &NFA, text: &[u8], byte: Option<u8>) -> bool {
        let mut now = std::mem::take(&mut self.now);
        let mut has_matched = false;
        self.visits += now.threads.len();
        for (state, slots) in now.threads.iter().zip(now.slots.chunks(self.width)) {
            let next = match (nfa.state(*state), byte) {
                (State::Match { .. }, _) => {
                    self.best = Some(slots.to_vec());
                    has_matched = true;
                    break;
                }
                (State::ByteRange { trans }, Some(byte)) if trans.matches_byte(byte) => {
                    Some(trans.next)
                }
                (State::Sparse(ways), Some(byte)) => ways.matches_byte(byte),
                (State::Dense(ways), Some(byte)) => ways.matches_byte(byte),
                _ => None,
            };
            if let Some(next) = next {
                self.slots.clear();
                self.slots.extend_from_slice(slots);
                let way = (&mut self.open, &mut self.slots);
                self.visits += self.next.follow(nfa, text, self.at, next, way);
            }
        }
        now.clear();
        self.now = std::mem::replace(&mut self.next, now);
        has_matched
    }
}
