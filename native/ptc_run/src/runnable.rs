//! A program and a run whose language is hidden.

use crate::execution::{Entry, Executed, Given};
use crate::observed;
use crate::plain::{Mode, Plain};
use crate::run::Run;
use ptc_lazy::Lazy;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_vm::explain::{Detail, Site};
use ptc_vm::program::{Pc, Program};
use ptc_vm::{Execute, State, Watch};
use std::panic::RefUnwindSafe;
use std::sync::Arc;

/// A kind of heap. A heap lives as long as one call of its VM, so the kind stands for the heaps of all calls.
pub trait Heaps: 'static {
    /// The heap of one call.
    type On<'a>: Heap;
}

/// A term on a heap of this kind.
pub type TermOf<'a, F> = <<F as Heaps>::On<'a> as Heap>::Term;

/// How the first execution of a run has ended, and the run if it is suspended.
pub type Begun<'a, F> = (Executed<TermOf<'a, F>>, Option<Box<dyn Running<F>>>);

/// How an execution over a lazy heap has ended.
pub type ExecutedLazily<'a, F> = Executed<ptc_lazy::Term<TermOf<'a, F>>>;

/// A compiled program of any language.
pub trait Runnable<F: Heaps>: Send + Sync + RefUnwindSafe {
    /// Starts a run and executes it.
    fn start<'a>(
        self: Arc<Self>,
        plain: Plain,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        meter: Meter,
    ) -> Option<Begun<'a, F>>;

    /// Returns a run that has not begun.
    fn run(self: Arc<Self>, plain: Plain) -> Box<dyn Running<F>>;

    /// Returns whether it may call tools.
    fn calls_tools(&self) -> bool;

    /// Returns the operations of an observed program.
    fn sites(&self) -> &[Site];

    /// Returns what is recorded of them.
    fn detail(&self) -> Detail;

    /// Returns what an observed run says about its operations: see [`observed::operations`].
    fn operations<'a>(
        &self,
        heap: &mut F::On<'a>,
        watch: &Watch,
        consts: &[TermOf<'a, F>],
    ) -> TermOf<'a, F>;

    /// Returns which of the program's calls is the one at this address: see [`observed::call_number`].
    fn call_number(&self, pc: Pc) -> usize;

    /// Returns the names that the program reads from the context: see [`observed::context_names`].
    fn context_names<'a>(&self, heap: &mut F::On<'a>, consts: &[TermOf<'a, F>]) -> TermOf<'a, F>;
}

/// A run of a program of any language, without its terms.
pub trait Running<F: Heaps>: Send {
    /// Returns what does not depend on the language.
    fn plain(&self) -> &Plain;

    /// Returns what does not depend on the language, to change it.
    fn plain_mut(&mut self) -> &mut Plain;

    /// See [`Run::execute`].
    fn execute<'a>(
        &mut self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        entry: Entry<'_, TermOf<'a, F>>,
        meter: Meter,
    ) -> Option<Executed<TermOf<'a, F>>>;

    /// Executes over texts that are not decoded: see [`Run::execute`].
    fn execute_lazily<'a>(
        &mut self,
        lazy: &mut Lazy<'_, F::On<'a>>,
        given: &mut Given<'_, ptc_lazy::Term<TermOf<'a, F>>>,
        entry: Entry<'_, ptc_lazy::Term<TermOf<'a, F>>>,
        meter: &mut Meter,
    ) -> Option<ExecutedLazily<'a, F>>;

    /// See [`Run::calls_ahead`].
    fn calls_ahead<'a>(
        &mut self,
        heap: &mut F::On<'a>,
        given: &Given<'_, TermOf<'a, F>>,
        terms: &[TermOf<'a, F>],
        all: &mut Vec<TermOf<'a, F>>,
    ) -> Option<usize>;

    /// See [`Run::round`].
    fn round<'a>(
        &self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        round: (&[TermOf<'a, F>], TermOf<'a, F>),
        meter: Meter,
    ) -> Option<Begun<'a, F>>;

    /// See [`Run::unanswered`].
    fn unanswered<'a>(
        &self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        terms: &[TermOf<'a, F>],
        meter: Meter,
    ) -> Option<Begun<'a, F>>;
}

impl<F: Heaps, L: Execute> Runnable<F> for Program<L>
where
    Program<L>: Send + Sync + RefUnwindSafe,
    State<L, ()>: Clone + Send,
{
    fn start<'a>(
        self: Arc<Self>,
        plain: Plain,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        meter: Meter,
    ) -> Option<Begun<'a, F>> {
        let mut run = Run::new(self, plain);
        let executed = run.execute(heap, given, Entry::Start, meter, None)?;
        Some((executed, kept(run)))
    }

    fn run(self: Arc<Self>, plain: Plain) -> Box<dyn Running<F>> {
        Box::new(Run::new(self, plain))
    }

    fn calls_tools(&self) -> bool {
        self.calls_tools
    }

    fn sites(&self) -> &[Site] {
        &self.sites
    }

    fn detail(&self) -> Detail {
        self.detail
    }

    fn operations<'a>(
        &self,
        heap: &mut F::On<'a>,
        watch: &Watch,
        consts: &[TermOf<'a, F>],
    ) -> TermOf<'a, F> {
        observed::operations(heap, self, watch, consts)
    }

    fn call_number(&self, pc: Pc) -> usize {
        observed::call_number(self, pc)
    }

    fn context_names<'a>(&self, heap: &mut F::On<'a>, consts: &[TermOf<'a, F>]) -> TermOf<'a, F> {
        observed::context_names(heap, self, consts)
    }
}

impl<F: Heaps, L: Execute> Running<F> for Run<L>
where
    Program<L>: Send + Sync,
    State<L, ()>: Clone + Send,
{
    fn plain(&self) -> &Plain {
        &self.plain
    }

    fn plain_mut(&mut self) -> &mut Plain {
        &mut self.plain
    }

    fn execute<'a>(
        &mut self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        entry: Entry<'_, TermOf<'a, F>>,
        meter: Meter,
    ) -> Option<Executed<TermOf<'a, F>>> {
        Run::execute(self, heap, given, entry, meter, None)
    }

    fn execute_lazily<'a>(
        &mut self,
        lazy: &mut Lazy<'_, F::On<'a>>,
        given: &mut Given<'_, ptc_lazy::Term<TermOf<'a, F>>>,
        entry: Entry<'_, ptc_lazy::Term<TermOf<'a, F>>>,
        meter: &mut Meter,
    ) -> Option<ExecutedLazily<'a, F>> {
        self.plain.mode = Mode::OverTexts;
        let own = meter.clone();
        Run::execute(self, lazy, given, entry, own, Some(meter))
    }

    fn calls_ahead<'a>(
        &mut self,
        heap: &mut F::On<'a>,
        given: &Given<'_, TermOf<'a, F>>,
        terms: &[TermOf<'a, F>],
        all: &mut Vec<TermOf<'a, F>>,
    ) -> Option<usize> {
        Run::calls_ahead(self, heap, given, terms, all)
    }

    fn round<'a>(
        &self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        round: (&[TermOf<'a, F>], TermOf<'a, F>),
        meter: Meter,
    ) -> Option<Begun<'a, F>> {
        let (executed, round) = Run::round(self, heap, given, round, meter)?;
        Some((executed, kept(round)))
    }

    fn unanswered<'a>(
        &self,
        heap: &mut F::On<'a>,
        given: &mut Given<'_, TermOf<'a, F>>,
        terms: &[TermOf<'a, F>],
        meter: Meter,
    ) -> Option<Begun<'a, F>> {
        let (executed, run) = Run::unanswered(self, heap, given, terms, meter)?;
        Some((executed, kept(run)))
    }
}

/// The run as one whose language is hidden, if it is suspended.
fn kept<F: Heaps, L: Execute>(run: Run<L>) -> Option<Box<dyn Running<F>>>
where
    Program<L>: Send + Sync,
    State<L, ()>: Clone + Send,
{
    match run.is_suspended() {
        true => Some(Box::new(run)),
        false => None,
    }
}
