//! Suspended work: a run, a walk or the reading or writing of a text, between two calls. A resource holds
//! the plain data and a tuple holds the terms; the same two NIFs resume every kind of work.

use crate::atoms;
use crate::handle::AnyRun;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::raw::Terms;
use crate::schedule::{self, Pace};
use crate::wire;
use ptc_term::fingerprint::Fingerprint;
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, Rooted};
use ptc_vm::ValueKind;
use rustler::{Decoder, Encoder, Env, Error, NifResult, Resource, ResourceArc, Term};
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Work that can be suspended, without its terms.
pub trait Work: Send {
    /// Resumes the work with its terms; `None` if they belong to other work.
    fn resume<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>>;

    /// Whether the first term is a text that the work has read a part of. It is resumed only with the same text.
    fn reads_text(&self) -> bool {
        false
    }

    /// Whether a slice is not enough for the next step.
    fn needs_quantum(&self) -> bool {
        false
    }
}

/// A job of the core with what its reply needs.
pub trait Task<'a>: Rooted<Term = Raw<'a>> {
    /// The result of the job.
    type Out;

    /// Continues until the job is done or stopped.
    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop>;

    /// The reply when the job is done.
    fn reply(self, call: Call<'a>, heap: Beam<'a>, out: Self::Out) -> Term<'a>;

    /// Takes the answer to a call of the job, or the text of the error of the tool.
    fn answered(&mut self, _heap: &mut Beam<'a>, _answer: Raw<'a>, _kind: ValueKind) {}

    /// See [`Work::reads_text`].
    fn reads_text(&self) -> bool {
        true
    }

    /// See [`Work::needs_quantum`].
    fn needs_quantum(&self) -> bool {
        false
    }
}

/// A task without its terms.
struct Kept<S> {
    task: S,
    reads_text: bool,
    needs_quantum: bool,
}

impl<S: Rooted<Term = ()> + Send + 'static> Work for Kept<S>
where
    for<'b> S::With<Raw<'b>>: Task<'b, With<()> = S>,
{
    fn resume<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let mut heap = Beam::new(call.env, 0);
        let mut task = thaw(self.task, &heap, &mut terms.iter().copied())?;
        if let Some((answer, kind, _)) = call.answer {
            task.answered(&mut heap, answer, kind);
        }
        Some(run::<S>(call, task))
    }

    fn reads_text(&self) -> bool {
        self.reads_text
    }

    fn needs_quantum(&self) -> bool {
        self.needs_quantum
    }
}

/// Runs a task until it is done or its slice or quantum is over. `S` is the task without its terms.
pub fn run<'a, S>(mut call: Call<'a>, mut task: S::With<Raw<'a>>) -> Term<'a>
where
    S: Rooted<Term = ()> + Send + 'static,
    for<'b> S::With<Raw<'b>>: Task<'b, With<()> = S>,
{
    let (mut heap, mut meter) = (Beam::new(call.env, call.words), call.meter());
    let done = task.step(&mut heap, &mut meter);
    call.settle(&meter);
    match done {
        Ok(out) => task.reply(call, heap, out),
        Err(Stop::SliceOver) => keep::<S>(call, heap, task),
        Err(stop) => wire::stopped(call.env, stop),
    }
}

/// Suspends a task.
pub fn keep<'a, S>(call: Call<'a>, heap: Beam<'a>, task: S::With<Raw<'a>>) -> Term<'a>
where
    S: Rooted<Term = ()> + Send + 'static,
    for<'b> S::With<Raw<'b>>: Task<'b, With<()> = S>,
{
    let env = call.env;
    kept::<S>(call, heap, task).encode(env)
}

/// Suspends a task: how it continues, the reference to the resource with its plain data, and a tuple of its terms.
pub fn kept<'a, S>(mut call: Call<'a>, mut heap: Beam<'a>, task: S::With<Raw<'a>>) -> Suspended<'a>
where
    S: Rooted<Term = ()> + Send + 'static,
    for<'b> S::With<Raw<'b>>: Task<'b, With<()> = S>,
{
    call.words = heap.words_built();
    let (reads_text, needs_quantum) = (task.reads_text(), task.needs_quantum());
    let mut terms = Vec::new();
    let work = Kept {
        task: freeze(task, &mut heap, &mut terms),
        reads_text,
        needs_quantum,
    };
    call.more(work, &terms)
}

/// Suspended work.
pub enum Left {
    /// A run: other functions look into it.
    Run(Box<AnyRun>),
    /// Other work.
    Work(Box<Waiting>),
}

/// Suspended work other than a run, and what is common to all of it.
pub struct Waiting {
    work: Box<dyn Work>,
    pub limits: Limits,
    /// The words built so far.
    words: usize,
    /// The quarters of slices so far.
    quarters: u32,
    /// Number of its terms.
    terms: usize,
    /// The fingerprint of its text, if it reads one.
    text: Option<Fingerprint>,
}

impl Waiting {
    /// Resumes the work; `None` if the terms belong to other work. `limits` are those that were not known before.
    pub fn resume<'a>(
        self: Box<Self>,
        env: Env<'a>,
        state: Place<'a>,
        terms: Term<'a>,
        (limits, answer): (Option<Limits>, Answered<'a>),
        pace: Pace,
    ) -> Option<Term<'a>> {
        let own = self.own(Terms { env }, terms)?;
        if pace != Pace::Quantum && self.work.needs_quantum() {
            state.put(Left::Work(self), Some(Instant::now()));
            return Some((atoms::long(), state, terms).encode(env));
        }
        let call = Call {
            env,
            pace,
            limits: limits.unwrap_or(self.limits),
            knows_limits: true,
            words: self
                .words
                .saturating_add(answer.map_or(0, |(.., words)| words)),
            quarters: self.quarters,
            state: Some(state),
            answer,
        };
        self.work.resume(call, own)
    }

    /// The terms that the caller held; `None` if they are not those of this work.
    fn own<'a>(&self, all: Terms<'a>, terms: Term<'a>) -> Option<&'a [Raw<'a>]> {
        let terms = all.tuple(terms.into())?;
        let is_own = match self.text {
            None => true,
            Some(text) => Fingerprint::of(all.bytes(*terms.first()?)?) == text,
        };
        (is_own && terms.len() == self.terms).then_some(terms)
    }
}

/// Resource of suspended work. It is empty while the work runs, so the work cannot be resumed twice.
pub struct Suspension(Mutex<Option<(Left, Since)>>);

/// The time since which work waits for a scheduler; `None` if it waits for a value. The clock is
/// not read at calls of tools, since that would be a noticeable part of their time.
pub type Since = Option<Instant>;

#[rustler::resource_impl]
impl Resource for Suspension {}

impl Suspension {
    /// Makes a resource that holds this work.
    pub fn new(left: Left, since: Since) -> Self {
        Suspension(Mutex::new(Some((left, since))))
    }

    /// Locks the resource. Nothing waits for a lock: while work runs in its resource, the resource counts as empty.
    pub fn lock(&self) -> Option<MutexGuard<'_, Option<(Left, Since)>>> {
        self.0.try_lock().ok()
    }

    /// How long the work has waited for a scheduler; `None` if it waits for a value or the resource is empty.
    pub fn age(&self) -> Option<Duration> {
        let since = self.0.try_lock().ok()?.as_ref()?.1?;
        Some(since.elapsed())
    }

    /// Calls `look` with the suspended work; `None` if the resource is empty.
    pub fn look<R>(&self, look: impl FnOnce(&mut Left) -> Option<R>) -> Option<R> {
        look(&mut self.0.try_lock().ok()?.as_mut()?.0)
    }

    /// Puts suspended work into the resource.
    pub fn put(&self, left: Left, since: Since) {
        if let Ok(mut place) = self.0.try_lock() {
            *place = Some((left, since));
        }
    }
}

/// The resource that held the work, and the caller's reference to it. The reply contains the same reference
/// again: a new one would cost an entry in the list that each garbage collection of the caller walks.
pub struct Place<'a> {
    state: ResourceArc<Suspension>,
    reference: Term<'a>,
}

impl<'a> Decoder<'a> for Place<'a> {
    fn decode(reference: Term<'a>) -> NifResult<Self> {
        let state = reference.decode()?;
        Ok(Place { state, reference })
    }
}

impl<'a> Place<'a> {
    /// The caller's reference.
    pub fn reference(&self) -> Term<'a> {
        self.reference
    }
}

impl Encoder for Place<'_> {
    fn encode<'b>(&self, env: Env<'b>) -> Term<'b> {
        self.reference.in_env(env)
    }
}

impl Deref for Place<'_> {
    type Target = Suspension;

    fn deref(&self) -> &Suspension {
        &self.state
    }
}

/// Puts suspended work into the resource it came from, or into a new one. Returns the reference to it.
pub fn suspend<'a>(env: Env<'a>, left: Left, since: Since, reuse: Option<Place<'a>>) -> Term<'a> {
    match reuse {
        Some(place) => {
            place.put(left, since);
            place.reference
        }
        None => ResourceArc::new(Suspension::new(left, since)).encode(env),
    }
}

/// How suspended work continues, the reference to it, and a tuple of its terms.
pub type Suspended<'a> = (rustler::Atom, Term<'a>, Term<'a>);

/// What work is resumed with: the answer to its call, what it is, and its words.
pub type Answered<'a> = Option<(Raw<'a>, ValueKind, usize)>;

/// A call that starts or resumes work.
pub struct Call<'a> {
    pub env: Env<'a>,
    pub pace: Pace,
    pub limits: Limits,
    /// Whether these are the limits of the caller: small work begins without them.
    pub knows_limits: bool,
    /// The words built before this call.
    pub words: usize,
    /// The quarters of slices before this call.
    pub quarters: u32,
    /// The resource that held the work.
    pub state: Option<Place<'a>>,
    pub answer: Answered<'a>,
}

impl<'a> Call<'a> {
    /// The first call, in a slice; `given` is `{timeout, max_heap}`.
    pub fn begin(env: Env<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Self> {
        let limits = schedule::limits(given).ok_or(Error::BadArg)?;
        Ok(Call::first(env, limits, Pace::Slice))
    }

    /// The first call.
    pub fn first(env: Env<'a>, limits: Limits, pace: Pace) -> Self {
        Call {
            env,
            pace,
            limits,
            knows_limits: true,
            words: 0,
            quarters: 0,
            state: None,
            answer: None,
        }
    }

    pub fn meter(&self) -> Meter {
        let mut meter = schedule::meter(self.limits, self.pace);
        if self.state.is_some() {
            meter.start_clock();
        }
        meter
    }

    pub fn terms(&self) -> Terms<'a> {
        Terms { env: self.env }
    }

    /// Suspends the work: `{:more, state, terms}` resumes in a slice, `{:long, state, terms}` in a quantum,
    /// `{:limits, state, terms}` with the limits.
    pub fn more(self, work: impl Work + 'static, terms: &[Raw<'a>]) -> Suspended<'a> {
        let next = match self.knows_limits {
            true => schedule::next(self.pace, self.quarters + 1, work.needs_quantum()),
            false => atoms::limits(),
        };
        self.leave(work, terms, next)
    }

    /// Suspends the work with `why` as the tag.
    pub fn leave(
        self,
        work: impl Work + 'static,
        terms: &[Raw<'a>],
        why: rustler::Atom,
    ) -> Suspended<'a> {
        let (env, all) = (self.env, self.terms());
        let text = terms.first().filter(|_| work.reads_text());
        let left = Left::Work(Box::new(Waiting {
            text: text.map(|text| Fingerprint::of(all.bytes(*text).unwrap_or_default())),
            work: Box::new(work),
            limits: self.limits,
            words: self.words,
            quarters: self.quarters + 1,
            terms: terms.len(),
        }));
        let tuple = all.make_tuple(terms);
        let state = suspend(env, left, Some(Instant::now()), self.state);
        (why, state, tuple.term(env))
    }

    /// Charges the caller for the work on its scheduler and keeps the started clock of the deadline.
    pub fn settle(&mut self, meter: &Meter) {
        self.limits = meter.limits;
        // `leave` counts one quarter itself.
        self.quarters += schedule::quarters(meter.percent_of_slice()) - 1;
        schedule::settle(self.env, meter);
    }
}
