//! A run over JSON texts that are not decoded.
//!
//! The texts are indexed first. Then the run is executed over a [`Lazy`] heap. What leaves the run is built: its value, the
//! arguments of its calls and the terms of its error. It can be suspended in each of these parts.
//!
//! A tool may answer a text: it is indexed before the run goes on, and is one of the texts from then on. A run over terms
//! becomes a run over texts with the first such answer.

mod found;
mod indexes;
mod outcome;

use crate::data::Data;
use crate::execution::{Consts, Ending, Entry, Given as GivenTerms, FIRST};
use crate::plain::{Mode, Plain};
use crate::runnable::{Heaps, Runnable, Running};
pub use found::has_text;
use indexes::Indexes;
pub use outcome::Outcome;
use ptc_lazy::settle::Settle;
use ptc_lazy::term::whole;
use ptc_lazy::{Given, Lazy, Term};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, Exchange, One, Rooted};
use ptc_vm::program::Pc;
use ptc_vm::{Report, ValueKind};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::mem::take;
use std::sync::Arc;

/// The bits of a marker.
const MARKER: u64 = (1 << 58) - 1;
/// Maximum part of a slice, in per cent, that may be used when the terms that leave the run are built in the same execution.
const MOST_BEFORE_SETTLING: i32 = 20;

/// A run over texts. Its terms are those of the heap below the lazy one.
pub struct TextRun<F: Heaps, T> {
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
    /// The terms of the state.
    held: Vec<One<T>>,
    /// The terms of what is being built.
    building: Vec<One<T>>,
    /// Whether it is in the process of its tools.
    pub has_moved: bool,
    inner: Box<Inner<F>>,
}

impl<F: Heaps, T> Rooted for TextRun<F, T> {
    type Term = T;
    type With<U> = TextRun<F, U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<TextRun<F, X::Into>, X::Lost> {
        Ok(TextRun {
            texts: by.term(self.texts)?,
            consts: by.term(self.consts)?,
            data: self.data.exchange(by)?,
            answer: self.answer.exchange(by)?,
            tool: self.tool.exchange(by)?,
            held: self.held.exchange(by)?,
            building: self.building.exchange(by)?,
            has_moved: self.has_moved,
            inner: self.inner,
        })
    }
}

/// What is not a term.
struct Inner<F: Heaps> {
    run: Box<dyn Running<F>>,
    /// Whether the run has begun.
    begun: bool,
    marker: i64,
    indexes: Indexes,
    /// See [`Given::stored`].
    stored: bool,
    /// Whether a list, a tuple or a map may have a value of an answer.
    nested: bool,
    /// Whether the state of the suspended run has a value of an answer.
    state_has_answers: bool,
    /// Whether the suspended run may read a value of an answer.
    needs_answers: bool,
    settling: Option<(After, Settle<()>)>,
    /// What the answer is.
    kind: ValueKind,
    /// The address after the call that the run waits for.
    pc: Option<Pc>,
    needs_quantum: bool,
}

/// What happens when the terms that leave the run are built.
#[derive(Debug)]
enum After {
    /// The run has ended with its value.
    Done,
    /// The run calls a tool.
    Call,
    /// The run asks this question.
    Ask(u32),
    /// The run has failed.
    Fault(Report<()>),
}

impl<F: Heaps, T: Copy> TextRun<F, T> {
    /// Returns the start of a run of a program. `consts`: a tuple of its constants. `None` if the first element of the texts is
    /// not a marker.
    pub fn new<H: Heap<Term = T>>(
        program: Arc<dyn Runnable<F>>,
        given: (T, T, Data<T>),
        heap: &H,
    ) -> Option<Self> {
        TextRun::of(program.run(Plain::new(None)), given, heap)
    }

    /// Returns a run over terms that has stopped at a call, as one over texts; it has none yet. `held`: the terms of the run.
    pub fn of_run<H: Heap<Term = T>>(
        run: Box<dyn Running<F>>,
        held: &[T],
        heap: &mut H,
    ) -> Option<Self> {
        let marker = RandomState::new().build_hasher().finish() & MARKER;
        let marker = heap.make_number(Number::Int(marker as i64))?;
        let texts = heap.make_tuple(&[marker]);
        let (consts, data) = GivenTerms::held(held, heap.nil())?;
        let is_own = run.plain().owns(heap, held, heap.arity(consts)?);
        let mut run = TextRun::of(is_own.then_some(run)?, (texts, consts, data), heap)?;
        run.held = held.iter().skip(FIRST).copied().map(One).collect();
        run.inner.begun = true;
        Some(run)
    }

    fn of<H: Heap<Term = T>>(
        mut run: Box<dyn Running<F>>,
        (texts, consts, data): (T, T, Data<T>),
        heap: &H,
    ) -> Option<Self> {
        let texts_and_marker = heap.arity(texts)?;
        let marker = heap.small_integer(heap.element(texts, 0)?)?;
        run.plain_mut().mode = Mode::OverTexts;
        Some(TextRun {
            texts,
            consts,
            data,
            answer: None,
            tool: None,
            held: Vec::new(),
            building: Vec::new(),
            has_moved: false,
            inner: Box::new(Inner {
                run,
                begun: false,
                marker,
                indexes: Indexes::new(texts_and_marker - 1),
                stored: false,
                nested: false,
                state_has_answers: false,
                needs_answers: true,
                settling: None,
                kind: ValueKind::Answer,
                pc: None,
                needs_quantum: false,
            }),
        })
    }

    /// Sets the answer to the run's call. A text is indexed before the run goes on.
    pub fn answered<H: Heap<Term = T>>(&mut self, answer: T, kind: ValueKind, heap: &mut H) {
        self.has_moved |= kind.has_moved();
        self.inner.kind = kind;
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
        self.inner.indexes.forget();
        Outcome::Refused { tool, text }
    }

    /// Returns the address after the call that the run waits for.
    pub fn pc(&self) -> Option<Pc> {
        self.inner.pc
    }

    /// Returns whether a slice is not enough for the next step.
    pub fn needs_quantum(&self) -> bool {
        self.inner.needs_quantum
    }

    /// Executes until the run ends or calls a tool. `texts`: the bytes of the texts. Also returns the words built, and the heap.
    pub fn step<'a>(
        &mut self,
        texts: &[&[u8]],
        mut heap: F::On<'a>,
        meter: &mut Meter,
    ) -> (Result<Outcome<T>, Stop>, usize, F::On<'a>)
    where
        F::On<'a>: Heap<Term = T>,
    {
        let (outcome, words, heap) = match self.index(texts, &mut heap, meter) {
            Ok(None) => self.advance(texts, heap, meter),
            Ok(Some(outcome)) => (Ok(outcome), heap.words_built(), heap),
            Err(stop) => (Err(stop), heap.words_built(), heap),
        };
        self.inner.needs_quantum = outcome.is_err() && meter.needs_quantum();
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
        if marker != Some(self.inner.marker) {
            return Err(Stop::Abandoned);
        }
        if !self.inner.indexes.index(texts, heap, meter)? {
            return Ok(Some(self.refused(heap)));
        }
        self.tool = None;
        Ok(None)
    }

    fn advance<'a>(
        &mut self,
        texts: &[&[u8]],
        heap: F::On<'a>,
        meter: &mut Meter,
    ) -> (Result<Outcome<T>, Stop>, usize, F::On<'a>)
    where
        F::On<'a>: Heap<Term = T>,
    {
        let mut indexes = take(&mut self.inner.indexes);
        let words = indexes.count(texts);
        let Some(sources) = indexes.sources(texts) else {
            return (Err(Stop::Abandoned), heap.words_built(), heap);
        };
        let given = Given {
            texts: sources,
            marker: self.inner.marker,
            stored: self.inner.stored,
            words,
        };
        let mut lazy = Lazy::new(heap, given);
        lazy.watch(indexes.lent() as u32, self.inner.nested);
        let outcome = self.execute(&mut lazy, meter);
        let words = lazy.words_built();
        self.inner.stored = lazy.has_stored();
        self.inner.nested = lazy.holds_watched();
        let mut heap = lazy.into_inner();
        self.inner.indexes = indexes;
        let calls = matches!(outcome, Ok(Outcome::Call { .. }));
        if calls && !self.inner.needs_answers && self.inner.indexes.forget_answers() {
            let texts = heap.elements(self.texts).unwrap_or_default();
            let lent: Vec<_> = texts
                .iter()
                .take(1 + self.inner.indexes.lent())
                .copied()
                .collect();
            self.texts = heap.make_tuple(&lent);
        }
        (outcome, words, heap)
    }

    fn execute<'a>(
        &mut self,
        lazy: &mut Lazy<'_, F::On<'a>>,
        meter: &mut Meter,
    ) -> Result<Outcome<T>, Stop>
    where
        F::On<'a>: Heap<Term = T>,
    {
        if let Some((after, settle)) = self.inner.settling.take() {
            let building = take(&mut self.building);
            let mut building = building.iter().map(|One(term)| lazy.wrap(*term));
            let settle = thaw(settle, lazy, &mut building).ok_or(Stop::Abandoned)?;
            return self.settle((after, settle), lazy, meter);
        }
        let held: Vec<_> = take(&mut self.held)
            .iter()
            .map(|One(term)| lazy.wrap(*term))
            .collect();
        let answer = self.answer.take().map(|One(answer)| lazy.wrap(answer));
        let entry = match self.inner.begun {
            false => Entry::Start,
            true => Entry::Resume {
                terms: &held,
                value: answer.map(|answer| (self.inner.kind, answer)),
            },
        };
        let consts = lazy.inner().elements(self.consts).unwrap_or_default();
        let consts = consts.iter().map(|term| Term::Real(*term)).collect();
        let data = Data {
            context: lazy.wrap(self.data.context),
            environment: lazy.wrap(self.data.environment),
            now: lazy.wrap(self.data.now),
        };
        let consts = Consts::Vector(consts);
        let mut given = GivenTerms { consts, data };
        let run = &mut self.inner.run;
        let executed = run.execute_lazily(lazy, &mut given, entry, meter);
        let executed = executed.ok_or(Stop::Abandoned)?;
        self.inner.begun = true;
        if let Some(held) = executed.held {
            self.inner.state_has_answers = held.iter().any(|term| lazy.is_watched(*term));
            self.held = packed(held, lazy);
        }
        let (after, terms) = match executed.ending {
            Ending::Done(value) => (After::Done, vec![value]),
            Ending::Call { tool, args, pc, .. } => {
                self.inner.pc = Some(pc);
                (After::Call, vec![tool, args])
            }
            Ending::Ask { what, about } => (After::Ask(what), vec![about]),
            Ending::Fault(report) => {
                let (report, terms) = report.split();
                (After::Fault(report), terms)
            }
            Ending::Uncaught(at) => return Ok(Outcome::Uncaught(at)),
            Ending::Stop(stop) => return Err(stop),
            // A run over texts does not fork, and waits for each answer.
            Ending::Fork { .. } | Ending::Last { .. } => return Err(Stop::Abandoned),
        };
        let settling = (after, Settle::new(terms));
        if meter.percent_of_slice() > MOST_BEFORE_SETTLING {
            // The rest of this execution would be too long for what is built.
            self.leave(settling, lazy);
            return Err(Stop::SliceOver);
        }
        self.settle(settling, lazy, meter)
    }

    /// Builds the terms that leave the run.
    fn settle<H: Heap<Term = T>>(
        &mut self,
        (after, mut settle): (After, Settle<Term<T>>),
        lazy: &mut Lazy<H>,
        meter: &mut Meter,
    ) -> Result<Outcome<T>, Stop> {
        if let Err(stop) = settle.run(lazy, meter) {
            self.leave((after, settle), lazy);
            return Err(stop);
        }
        self.inner.needs_answers = self.inner.state_has_answers || lazy.holds_watched();
        let mut built = Vec::new();
        while let Some(term) = settle.take_last(lazy) {
            built.push(lazy.pack(term));
        }
        built.reverse();
        match (after, &*built) {
            (After::Done, [value]) => Ok(Outcome::Value(*value)),
            (After::Call, [tool, args]) => {
                let (tool, args) = (*tool, *args);
                Ok(Outcome::Call { tool, args })
            }
            (After::Ask(what), [about]) => {
                let about = *about;
                Ok(Outcome::Ask { what, about })
            }
            (After::Fault(report), _) => Ok(Outcome::Fault(report.with_terms(built))),
            _ => Err(Stop::Abandoned),
        }
    }

    /// Suspends what is being built.
    fn leave<H: Heap<Term = T>>(
        &mut self,
        (after, settle): (After, Settle<Term<T>>),
        lazy: &mut Lazy<H>,
    ) {
        let mut out = Vec::new();
        self.inner.settling = Some((after, freeze(settle, lazy, &mut out)));
        self.building = packed(out, lazy);
    }
}

fn packed<H: Heap>(terms: Vec<Term<H::Term>>, lazy: &mut Lazy<H>) -> Vec<One<H::Term>> {
    terms.into_iter().map(|term| One(lazy.pack(term))).collect()
}
