//! A run over JSON texts that are not decoded.
//!
//! The texts are indexed first. Then the VM runs over a [`Lazy`] heap. What leaves the run is built: its value, the arguments
//! of its calls and the terms of its error. It can be suspended in each of these parts.

use crate::code::{Program, Vm};
use crate::compile::INPUT_NAME;
use ptc_index::{Index, Indexer};
use ptc_lazy::settle::Settle;
use ptc_lazy::{fits, Given, Lazy, Source, Term};
use ptc_machine::fault::{Fault, Halt};
use ptc_machine::{Exit, Inputs, State};
use ptc_term::heap::{Heap, Kind};
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, One};
use std::mem::{swap, take};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes that are indexed between two looks at the clock, and the fuel for them.
const STEP: usize = 64 * 1024;
const FUEL_OF_STEP: usize = 4_096;
const BYTES_PER_WORD: usize = 8;
/// Maximum part of a slice, in per cent, that may be used when the terms that leave the run are built in the same execution.
const MOST_BEFORE_SETTLING: i32 = 20;

/// Returns the time of a run's start as a text: the one that is given, or that of the clock.
pub fn start_time<H: Heap>(heap: &mut H, given: H::Term) -> H::Term {
    if heap.kind(given) == Kind::String {
        return given;
    }
    let seconds = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    heap.make_string(&ptc_date::of_unix_seconds(seconds))
}

/// A run over texts. Its terms are those of the heap below the lazy one.
#[derive(Debug)]
pub struct TextRun<T> {
    /// A tuple: the marker (see [`Given::marker`]), and the texts.
    pub texts: T,
    /// A tuple of the program's constants.
    consts: T,
    /// In the place of each text of the context stands a tuple of the marker and of [`ptc_lazy::term::whole`].
    data: Data<T>,
    /// The answer to the run's call, or the text of the error of its tool.
    answer: Option<One<T>>,
    /// The terms of the state and of what is being built.
    rest: Vec<One<T>>,
    plain: Box<Plain>,
}

rooted!(TextRun { terms: texts, consts; states: data, answer, rest; plain: plain });

/// What is not a term.
#[derive(Debug)]
struct Plain {
    program: Arc<Program>,
    marker: i64,
    /// The text that is being indexed.
    indexing: Option<Box<Indexer>>,
    indexes: Vec<Index>,
    /// Whether the words of the indexes are counted.
    counted: bool,
    /// See [`Given::stored`].
    stored: bool,
    state: Option<State<()>>,
    settling: Option<(After, Settle<()>)>,
    /// Whether the tool of the call has failed.
    failed: bool,
    needs_quantum: bool,
}

/// What happens when the terms that leave the run are built.
#[derive(Debug)]
enum After {
    /// The run has ended with its value.
    Done,
    /// The run calls a tool.
    Call,
    /// The run has failed.
    Fault(Fault<()>),
}

/// What a program reads besides its constants.
#[derive(Debug, Clone, Copy)]
pub struct Data<T> {
    /// The context.
    pub context: T,
    /// The memory.
    pub memory: T,
    /// The text of the time of the start; `nil`: the run reads the clock if its program asks for it. Not used
    /// when a run is resumed.
    pub now: T,
}

impl<T: Copy> Data<T> {
    /// Returns the data of a program that reads none: `nil` in each place.
    pub fn of(nil: T) -> Self {
        Data {
            context: nil,
            memory: nil,
            now: nil,
        }
    }
}

rooted!(Data { terms: context, memory, now; });

/// How an execution ends.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The run's value.
    Value(T),
    /// The run calls a tool and can be resumed with its answer.
    Call {
        /// The name of the tool.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// The run has failed.
    Fault(Fault<T>),
    /// A text is not JSON, or cannot be read in place.
    Undecoded,
    /// The tool of the call has failed, and the program does not catch that.
    Uncaught,
}

impl<T: Copy> TextRun<T> {
    /// Returns the start of a run. `consts`: a tuple of the program's constants. `None` if the first element of the texts is
    /// not a marker.
    pub fn new<H: Heap<Term = T>>(
        program: Arc<Program>,
        (texts, consts): (T, T),
        data: Data<T>,
        heap: &H,
    ) -> Option<Self> {
        let marker = heap.small_integer(heap.element(texts, 0)?)?;
        Some(TextRun {
            texts,
            consts,
            data,
            answer: None,
            rest: Vec::new(),
            plain: Box::new(Plain {
                program,
                marker,
                indexing: None,
                indexes: Vec::new(),
                counted: false,
                stored: false,
                state: None,
                settling: None,
                failed: false,
                needs_quantum: false,
            }),
        })
    }

    /// Sets the answer to the run's call. `failed`: it is the text of the error of the tool.
    pub fn answered(&mut self, answer: T, failed: bool) {
        self.answer = Some(One(answer));
        self.plain.failed = failed;
    }

    /// Returns whether a slice is not enough for the next step.
    pub fn needs_quantum(&self) -> bool {
        self.plain.needs_quantum
    }

    /// Executes until the run ends or calls a tool. `texts`: the bytes of the texts. Also returns the words built.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        texts: &[&[u8]],
        heap: H,
        meter: &mut Meter,
    ) -> (Result<Outcome<T>, Stop>, usize) {
        let mut words = heap.words_built();
        let outcome = self.advance(texts, heap, meter, &mut words);
        self.plain.needs_quantum = outcome.is_err() && meter.needs_quantum();
        (outcome, words)
    }

    fn advance<H: Heap<Term = T>>(
        &mut self,
        texts: &[&[u8]],
        heap: H,
        meter: &mut Meter,
        words: &mut usize,
    ) -> Result<Outcome<T>, Stop> {
        let marker = heap.element(self.texts, 0);
        let marker = marker.and_then(|marker| heap.small_integer(marker));
        if marker != Some(self.plain.marker) {
            return Err(Stop::Abandoned);
        }
        if !self.plain.index(texts, &heap, meter)? {
            return Ok(Outcome::Undecoded);
        }
        let indexes = take(&mut self.plain.indexes);
        let same_lengths = |(text, index): (&&[u8], &Index)| text.len() == index.length();
        if texts.len() != indexes.len() || !texts.iter().zip(&indexes).all(same_lengths) {
            return Err(Stop::Abandoned);
        }
        let added = match std::mem::replace(&mut self.plain.counted, true) {
            true => 0,
            false => indexes.iter().map(Index::bytes).sum::<usize>() / BYTES_PER_WORD,
        };
        let sources = texts.iter().zip(&indexes);
        let given = Given {
            texts: sources
                .map(|(text, index)| Source::new(text, index))
                .collect(),
            marker: self.plain.marker,
            stored: self.plain.stored,
            words: added,
        };
        let mut lazy = Lazy::new(heap, given);
        let outcome = self.execute(&mut lazy, meter);
        *words = lazy.words_built();
        self.plain.stored = lazy.has_stored();
        drop(lazy);
        self.plain.indexes = indexes;
        outcome
    }

    fn execute<H: Heap<Term = T>>(
        &mut self,
        lazy: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<Outcome<T>, Stop> {
        let program = self.plain.program.clone();
        let rest: Vec<_> = take(&mut self.rest)
            .iter()
            .map(|One(term)| lazy.wrap(*term))
            .collect();
        let mut rest = rest.into_iter();
        let mut state = self.plain.state.take();
        if take(&mut self.plain.failed) {
            let Some(caught) = state.and_then(|state| state.failed_call(&program)) else {
                return Ok(Outcome::Uncaught);
            };
            state = Some(caught);
        }
        let state = match state {
            Some(state) => Some(thaw(state, lazy, &mut rest).ok_or(Stop::Abandoned)?),
            None => None,
        };
        if let Some((after, settle)) = self.plain.settling.take() {
            let settle = thaw(settle, lazy, &mut rest).ok_or(Stop::Abandoned)?;
            return self.settle((after, settle), state, lazy, meter);
        }
        let consts = lazy.inner().elements(self.consts).unwrap_or_default();
        let consts: Vec<_> = consts.iter().map(|term| Term::Real(*term)).collect();
        let (context, memory) = (lazy.wrap(self.data.context), lazy.wrap(self.data.memory));
        let state = state.unwrap_or_else(|| {
            let input = Vm::input_of(&program, lazy, memory, INPUT_NAME.as_bytes());
            let now = |heap: &mut Lazy<H>| {
                let now = start_time(heap.inner(), self.data.now);
                heap.wrap(now)
            };
            State::start(&program, lazy, input, now)
        });
        let inputs = Inputs {
            consts: &consts,
            context,
            memory,
        };
        let answer = self.answer.take().map(|One(answer)| lazy.wrap(answer));
        let mut own = Meter::new(meter.limits, meter.pace());
        swap(&mut own, meter);
        let mut vm = Vm::new(&program, lazy, inputs, state, own);
        let exit = match answer {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        let is_broken = vm.is_broken();
        // The state says whether its next step must be done at once, which its own meter knows.
        let (state, own) = vm.into_parts();
        *meter = own;
        if is_broken {
            return Err(Stop::Abandoned);
        }
        let (after, terms, state) = match exit {
            Exit::Done(value) => (After::Done, vec![value], None),
            Exit::Call { tool, args } => (After::Call, vec![tool, args], Some(state)),
            Exit::Halted(Halt::Fault(mut fault)) => {
                let terms = take(&mut fault.terms);
                (After::Fault(fault.map(|_| ())), terms, None)
            }
            Exit::Halted(Halt::Stop(stop)) => {
                self.leave(Some(state), None, lazy);
                return Err(stop);
            }
            // No run over texts forks.
            Exit::Fork { .. } => return Err(Stop::Abandoned),
        };
        let settling = (after, Settle::new(terms));
        if meter.percent_of_slice() > MOST_BEFORE_SETTLING {
            // The rest of this execution would be too long for what is built.
            self.leave(state, Some(settling), lazy);
            return Err(Stop::SliceOver);
        }
        self.settle(settling, state, lazy, meter)
    }

    /// Builds the terms that leave the run.
    fn settle<H: Heap<Term = T>>(
        &mut self,
        (after, mut settle): (After, Settle<Term<T>>),
        state: Option<State<Term<T>>>,
        lazy: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<Outcome<T>, Stop> {
        if let Err(stop) = settle.run(lazy, meter) {
            self.leave(state, Some((after, settle)), lazy);
            return Err(stop);
        }
        let mut built = Vec::new();
        while let Some(term) = settle.take_last(lazy) {
            built.push(lazy.pack(term));
        }
        built.reverse();
        match (after, &*built) {
            (After::Done, [value]) => Ok(Outcome::Value(*value)),
            (After::Call, [tool, args]) => {
                self.leave(state, None, lazy);
                let (tool, args) = (*tool, *args);
                Ok(Outcome::Call { tool, args })
            }
            (After::Fault(fault), _) => {
                let nil = lazy.inner().nil();
                let mut fault = fault.map(|()| nil);
                fault.terms = built;
                Ok(Outcome::Fault(fault))
            }
            _ => Err(Stop::Abandoned),
        }
    }

    /// Suspends the run.
    fn leave<H: Heap<Term = T>>(
        &mut self,
        state: Option<State<Term<T>>>,
        settling: Option<(After, Settle<Term<T>>)>,
        lazy: &mut Lazy<H>,
    ) {
        let mut out = Vec::new();
        self.plain.state = state.map(|state| freeze(state, lazy, &mut out));
        self.plain.settling =
            settling.map(|(after, settle)| (after, freeze(settle, lazy, &mut out)));
        self.rest = out.into_iter().map(|term| One(lazy.pack(term))).collect();
    }
}

impl Plain {
    /// Indexes the texts. Returns false for a text that is not JSON, or that cannot be read in place.
    fn index<H: Heap>(
        &mut self,
        texts: &[&[u8]],
        heap: &H,
        meter: &mut Meter,
    ) -> Result<bool, Stop> {
        while let Some(text) = texts.get(self.indexes.len()) {
            let indexer = match self.indexing.take() {
                Some(indexer) => Some(indexer),
                None => Indexer::new(text.len(), usize::MAX).map(Box::new),
            };
            let Some(indexer) = indexer else {
                return Ok(false);
            };
            let indexer = self.indexing.insert(indexer);
            meter.consume_fuel(FUEL_OF_STEP, heap)?;
            let bytes = self.indexes.iter().map(Index::bytes).sum::<usize>() + indexer.bytes();
            meter.check_heap_limit(bytes / BYTES_PER_WORD, heap)?;
            match indexer.step(text, STEP) {
                Ok(None) => {}
                Ok(Some(index)) if fits(&index) => {
                    self.indexing = None;
                    self.indexes.push(index);
                }
                Ok(Some(_)) | Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}
