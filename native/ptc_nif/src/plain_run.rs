//! The plain data of a run, which stay in its resource: all but its terms.

use crate::explain::Observation;
use ptc_program::code::Program;
use ptc_program::code::State;
use ptc_term::meter::Limits;
use rustler::ResourceArc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// A run without its terms. It stays in its resource while it runs; the caller holds its terms while it is suspended.
pub struct Run {
    pub program: Arc<Program>,
    pub limits: Limits,
    pub mode: Mode,
    /// The quarters of slices so far.
    pub quarters: u32,
    /// The calls that its caller was asked for.
    pub calls: usize,
    /// Words built by this run and by the rounds of its loop, if the rounds run concurrently.
    pub together: Option<Arc<AtomicUsize>>,
    /// Records the run, if it is observed.
    pub observation: Option<ResourceArc<Observation>>,
    /// Whether it looks for the calls that follow a call, see [`look_ahead`](ptc_vm::look_ahead).
    pub looks_ahead: bool,
    /// Whether its caller decides about each call: the run does not move, and each call has its address.
    pub asks_always: bool,
    /// The state, if the run is suspended.
    pub state: Option<State<()>>,
    /// Equals the token in the terms that the caller holds.
    pub token: u64,
    /// Number of the program's constants.
    pub consts: usize,
    /// The words built until it was suspended.
    pub words_built: usize,
}

/// How a run calls its tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Suspends at each call and returns it to the caller; moves when that is cheaper.
    Asks,
    /// Continues in the process of its tools, and reports its words at each call.
    Moved,
    /// Suspends at each loop that calls tools, so that the rounds of the loop run concurrently.
    Forks,
    /// One round of such a loop: suspends at each call, and does not move.
    Round,
}

impl Run {
    /// A run in the caller; without limits it is probed for a few steps, in which most small programs end.
    pub fn new(program: Arc<Program>, limits: Option<Limits>) -> Self {
        Run {
            program,
            limits: limits.unwrap_or(Limits::PROBE),
            mode: Mode::Asks,
            quarters: 0,
            calls: 0,
            together: None,
            observation: None,
            looks_ahead: true,
            asks_always: false,
            state: None,
            token: 0,
            consts: 0,
            words_built: 0,
        }
    }

    /// The words that the run has built, with those of concurrent rounds.
    pub fn words(&self) -> usize {
        let together = self.together.as_ref();
        together.map_or(self.words_built, |words| words.load(Ordering::Relaxed))
    }

    /// Moves the run out.
    pub fn take(&mut self) -> Self {
        Run {
            program: self.program.clone(),
            together: self.together.take(),
            observation: self.observation.take(),
            state: self.state.take(),
            ..*self
        }
    }
}
