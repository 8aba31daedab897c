//! What every run has besides its program and its state, whatever its language.

use ptc_term::heap::Heap;
use ptc_term::meter::Limits;
use ptc_vm::explain::Detail;
use ptc_vm::{Progress, Watch};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The plain data of a run.
#[derive(Debug, Clone)]
pub struct Plain {
    /// Its limits, with the running clock of the deadline.
    pub limits: Limits,
    /// How it calls its tools.
    pub mode: Mode,
    /// At which level it looks for the calls that follow a call, see [`Run::calls_ahead`](crate::Run::calls_ahead) and [`ptc_vm::calls_at`];
    /// at 0 it does not.
    pub looks_ahead: u8,
    /// Whether it looks for them while it is with its caller: then it does not move for these calls.
    pub stays: bool,
    /// Whether its caller decides about each call: then it does not move.
    pub asks: Asks,
    /// Whether a journal has answered its last call.
    pub replays: bool,
    /// The quarters of slices so far.
    pub quarters: u32,
    /// The calls that its caller was asked for.
    pub calls: usize,
    /// Words built by this run and by the rounds of its loop, if the rounds run concurrently.
    pub together: Option<Arc<AtomicUsize>>,
    /// Records the run, if it is observed.
    pub observation: Option<Arc<Observation>>,
    /// The words built until it was suspended.
    pub words_built: usize,
    /// Equals the token in the terms that the caller holds.
    pub(crate) token: u64,
    /// Number of the program's constants.
    pub(crate) consts: usize,
    /// Number of the terms that the caller holds.
    pub(crate) held: usize,
}

/// Whether the caller of a run decides about each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// It does not.
    Never,
    /// It does, about each when the run waits for it.
    Always,
    /// It does, and is told of the calls that follow a call, so that some go to their tool together.
    Together,
}

/// How a run calls its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Suspends at each call and returns it to the caller; moves when that is cheaper.
    Asks,
    /// Continues in the process of its tools.
    Moved,
    /// Suspends at each loop that calls tools, so that the rounds of the loop run concurrently.
    Forks,
    /// One round of such a loop: suspends at each call, and does not move.
    Round,
    /// Suspends at each call, over texts that are not decoded: see [`TextRun`](crate::texts::TextRun).
    OverTexts,
}

impl Plain {
    /// A run in the caller; without limits it is probed for a few steps, in which most small programs end.
    pub fn new(limits: Option<Limits>) -> Self {
        Plain {
            limits: limits.unwrap_or(Limits::PROBE),
            mode: Mode::Asks,
            looks_ahead: 1,
            stays: true,
            asks: Asks::Never,
            replays: false,
            quarters: 0,
            calls: 0,
            together: None,
            observation: None,
            words_built: 0,
            token: 0,
            consts: 0,
            held: 0,
        }
    }

    /// A round of this run.
    pub(crate) fn round(&self) -> Self {
        Plain {
            mode: Mode::Round,
            asks: self.asks,
            together: self.together.clone(),
            observation: self.observation.as_ref().map(Observation::of_round),
            ..Plain::new(Some(self.limits))
        }
    }

    /// The words that the run has built, with those of concurrent rounds.
    pub fn words(&self) -> usize {
        let together = self.together.as_ref();
        together.map_or(self.words_built, |words| words.load(Ordering::Relaxed))
    }

    /// Publishes the words built so far to the other rounds.
    pub(crate) fn share(&self, words: usize) {
        if let Some(together) = &self.together {
            together.store(words, Ordering::Relaxed);
        }
    }

    /// Returns whether these are the terms that the caller of the suspended run holds: see [`Executed`](crate::Executed).
    pub fn owns<H: Heap>(&self, heap: &H, held: &[H::Term], consts: usize) -> bool {
        let token = held.first().and_then(|token| heap.small_integer(*token));
        token == Some(self.token as i64) && held.len() == self.held && consts == self.consts
    }
}

/// The counts of an observed run; empty while the run executes.
#[derive(Debug)]
pub struct Observation {
    watch: Mutex<Option<Box<Watch>>>,
    /// Of a round that has open operations of its own: the observation that has the counts, and these operations.
    of_round: Option<(Arc<Observation>, Mutex<Progress>)>,
}

impl Observation {
    /// Returns an observation that begins with these counts.
    pub fn new(watch: Watch) -> Self {
        Observation {
            watch: Mutex::new(Some(Box::new(watch))),
            of_round: None,
        }
    }

    /// Returns the observation of a round of this run: the same one, unless the round has open operations of its own.
    fn of_round(this: &Arc<Self>) -> Arc<Self> {
        let whole = this.of_round.as_ref().map_or(this, |(whole, _)| whole);
        let watch = whole.watch.try_lock();
        let detail = watch.ok().and_then(|it| it.as_ref().map(|it| it.detail()));
        match detail {
            Some(Detail::Forms) => Arc::new(Observation {
                watch: Mutex::new(None),
                of_round: Some((whole.clone(), Mutex::default())),
            }),
            _ => this.clone(),
        }
    }

    /// Takes the counts so far; `None` if they were already taken.
    pub fn take(&self) -> Option<Box<Watch>> {
        match &self.of_round {
            Some((whole, progress)) => {
                let mut watch = whole.take()?;
                watch.exchange(&mut *progress.try_lock().ok()?);
                Some(watch)
            }
            None => self.watch.try_lock().ok()?.take(),
        }
    }

    /// Puts the counts back.
    pub fn put(&self, watch: Option<Box<Watch>>) {
        match &self.of_round {
            Some((whole, progress)) => {
                let (Some(mut watch), Ok(mut progress)) = (watch, progress.try_lock()) else {
                    return;
                };
                watch.exchange(&mut progress);
                whole.put(Some(watch));
            }
            None => {
                if let Ok(mut place) = self.watch.try_lock() {
                    *place = watch;
                }
            }
        }
    }
}
