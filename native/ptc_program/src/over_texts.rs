//! A run over JSON texts that are not decoded.
//!
//! The texts are indexed first. Then the VM runs over a [`Lazy`] heap. What leaves the run is built: its value, the arguments
//! of its calls and the terms of its error. It can be suspended in each of these parts.
//!
//! A tool may answer a text: it is indexed before the run goes on, and is one of the texts from then on. A run over terms
//! becomes a run over texts with the first such answer.

mod data;
mod found;
mod indexes;
mod outcome;

use crate::code::{Halt, Pc, Program, State, Vm};
use crate::compile::INPUT_NAME;
use crate::fault::Fault;
pub use data::{start_time, Data};
pub use found::has_text;
use indexes::Indexes;
pub use outcome::Outcome;
use ptc_lazy::settle::Settle;
use ptc_lazy::term::whole;
use ptc_lazy::{Given, Lazy, Term};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, One};
use ptc_vm::{Exit, Inputs, ValueKind};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::mem::{swap, take};
use std::sync::Arc;

/// The bits of a marker.
const MARKER: u64 = (1 << 58) - 1;
/// Maximum part of a slice, in per cent, that may be used when the terms that leave the run are built in the same execution.
const MOST_BEFORE_SETTLING: i32 = 20;

/// A run over texts. Its terms are those of the heap below the lazy one.
#[derive(Debug)]
pub struct TextRun<T> {
    /// A tuple: the marker (see [`Given::marker`]), the texts of the context, and those that tools have answered.
    pub texts: T,
    /// A tuple of the program's constants.
    consts: T,
    /// In the place of each text of the context stands a tuple of the marker and of [`ptc_lazy::term::whole`].
    data: Data<T>,
    /// The answer to the run's call, or the text of the error of its tool.
    answer: Option<One<T>>,
    /// The name of the tool that has answered the last text, until that is indexed.
    tool: Option<One<T>>,
    /// The terms of the state and of what is being built.
    rest: Vec<One<T>>,
    /// Whether it is in the process of its tools.
    pub has_moved: bool,
    plain: Box<Plain>,
}

rooted!(TextRun { terms: texts, consts; states: data, answer, tool, rest; plain: has_moved, plain });

/// What is not a term.
#[derive(Debug)]
struct Plain {
    program: Arc<Program>,
    marker: i64,
    indexes: Indexes,
    /// See [`Given::stored`].
    stored: bool,
    /// Whether a list, a tuple or a map may have a value of an answer.
    nested: bool,
    /// Whether the suspended run may read a value of an answer.
    needs_answers: bool,
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

impl<T: Copy> TextRun<T> {
    /// Returns the start of a run. `consts`: a tuple of the program's constants. `None` if the first element of the texts is
    /// not a marker.
    pub fn new<H: Heap<Term = T>>(
        program: Arc<Program>,
        (texts, consts): (T, T),
        data: Data<T>,
        heap: &H,
    ) -> Option<Self> {
        let texts_and_marker = heap.arity(texts)?;
        let marker = heap.small_integer(heap.element(texts, 0)?)?;
        Some(TextRun {
            texts,
            consts,
            data,
            answer: None,
            tool: None,
            rest: Vec::new(),
            has_moved: false,
            plain: Box::new(Plain {
                program,
                marker,
                indexes: Indexes::new(texts_and_marker - 1),
                stored: false,
                nested: false,
                needs_answers: true,
                state: None,
                settling: None,
                failed: false,
                needs_quantum: false,
            }),
        })
    }

    /// Returns a run over terms that has stopped at a call, as one over texts; it has none yet.
    pub fn of_state<H: Heap<Term = T>>(
        program: Arc<Program>,
        consts: T,
        data: Data<T>,
        state: State<T>,
        heap: &mut H,
    ) -> Option<Self> {
        let marker = RandomState::new().build_hasher().finish() & MARKER;
        let marker = heap.make_number(Number::Int(marker as i64))?;
        let texts = heap.make_tuple(&[marker]);
        let mut run = TextRun::new(program, (texts, consts), data, heap)?;
        let mut rest = Vec::new();
        run.plain.state = Some(freeze(state, heap, &mut rest));
        run.rest = rest.into_iter().map(One).collect();
        Some(run)
    }

    /// Sets the answer to the run's call. A text is indexed before the run goes on.
    pub fn answered<H: Heap<Term = T>>(&mut self, answer: T, kind: ValueKind, heap: &mut H) {
        self.has_moved |= kind.has_moved();
        self.plain.failed = kind.is_failure();
        let answer = match (kind.is_text(), heap.elements(answer)) {
            (true, Some(&[tool, text])) => self.lent(tool, text, heap),
            _ => answer,
        };
        self.answer = Some(One(answer));
    }

    /// Adds the text that the tool has answered. Returns what stands for it.
    fn lent<H: Heap<Term = T>>(&mut self, tool: T, text: T, heap: &mut H) -> T {
        let mut texts = heap.elements(self.texts).unwrap_or_default().to_vec();
        // Terms of other work are found out when it goes on.
        let marker = texts.first().copied().unwrap_or(text);
        let number = Number::Int(whole(texts.len().saturating_sub(1) as u32));
        let number = heap.make_number(number).unwrap_or(heap.nil());
        let value = heap.make_tuple(&[marker, number]);
        texts.push(text);
        self.texts = heap.make_tuple(&texts);
        self.tool = Some(One(tool));
        value
    }

    /// Takes back the text that cannot be read in place, if a tool has answered it.
    fn refused<H: Heap<Term = T>>(&mut self, heap: &mut H) -> Outcome<T> {
        let mut texts = heap.elements(self.texts).unwrap_or_default().to_vec();
        let (Some(One(tool)), Some(text)) = (self.tool.take(), texts.pop()) else {
            return Outcome::Undecoded;
        };
        self.texts = heap.make_tuple(&texts);
        self.answer = None;
        self.plain.indexes.forget();
        Outcome::Refused { tool, text }
    }

    /// Returns the address after the call that the run waits for.
    pub fn pc(&self) -> Option<Pc> {
        self.plain.state.as_ref().map(State::pc)
    }

    /// Returns whether a slice is not enough for the next step.
    pub fn needs_quantum(&self) -> bool {
        self.plain.needs_quantum
    }

    /// Executes until the run ends or calls a tool. `texts`: the bytes of the texts. Also returns the words built, and the heap.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        texts: &[&[u8]],
        mut heap: H,
        meter: &mut Meter,
    ) -> (Result<Outcome<T>, Stop>, usize, H) {
        let (outcome, words, heap) = match self.index(texts, &mut heap, meter) {
            Ok(None) => self.advance(texts, heap, meter),
            Ok(Some(outcome)) => (Ok(outcome), heap.words_built(), heap),
            Err(stop) => (Err(stop), heap.words_built(), heap),
        };
        self.plain.needs_quantum = outcome.is_err() && meter.needs_quantum();
        (outcome, words, heap)
    }

    /// Indexes the texts that have no index. Returns how the execution ends if one of them cannot be read in place.
    fn index<H: Heap<Term = T>>(
        &mut self,
        texts: &[&[u8]],
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<Option<Outcome<T>>, Stop> {
        let marker = heap.element(self.texts, 0);
        let marker = marker.and_then(|marker| heap.small_integer(marker));
        if marker != Some(self.plain.marker) {
            return Err(Stop::Abandoned);
        }
        if !self.plain.indexes.index(texts, heap, meter)? {
            return Ok(Some(self.refused(heap)));
        }
        self.tool = None;
        Ok(None)
    }

    fn advance<H: Heap<Term = T>>(
        &mut self,
        texts: &[&[u8]],
        heap: H,
        meter: &mut Meter,
    ) -> (Result<Outcome<T>, Stop>, usize, H) {
        let mut indexes = take(&mut self.plain.indexes);
        let words = indexes.count(texts);
        let Some(sources) = indexes.sources(texts) else {
            return (Err(Stop::Abandoned), heap.words_built(), heap);
        };
        let given = Given {
            texts: sources,
            marker: self.plain.marker,
            stored: self.plain.stored,
            words,
        };
        let mut lazy = Lazy::new(heap, given);
        lazy.watch(indexes.lent() as u32, self.plain.nested);
        let outcome = self.execute(&mut lazy, meter);
        let words = lazy.words_built();
        self.plain.stored = lazy.has_stored();
        self.plain.nested = lazy.holds_watched();
        let mut heap = lazy.into_inner();
        self.plain.indexes = indexes;
        let calls = matches!(outcome, Ok(Outcome::Call { .. }));
        if calls && !self.plain.needs_answers && self.plain.indexes.forget_answers() {
            let texts = heap.elements(self.texts).unwrap_or_default();
            let lent: Vec<_> = texts
                .iter()
                .take(1 + self.plain.indexes.lent())
                .copied()
                .collect();
            self.texts = heap.make_tuple(&lent);
        }
        (outcome, words, heap)
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
            // No run over texts forks or asks.
            Exit::Fork { .. } | Exit::Ask { .. } => return Err(Stop::Abandoned),
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
        let holds = lazy.holds_watched() || out.iter().any(|term| lazy.is_watched(*term));
        self.plain.needs_answers = holds;
        self.rest = out.into_iter().map(|term| One(lazy.pack(term))).collect();
    }
}
