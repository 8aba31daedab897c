//! The machine that evaluates operations: operands, slots, and the state of the evaluation that has begun.

use crate::globals::Globals;
use crate::halt::Halt;
use crate::language::Language;
use crate::program::{Apply, ConstId, PatternId, Program, Slot};
use crate::slots::Slots;
use crate::stack::Stack;
use ptc_kernels::{Context, Early, Walk, Why, Wrong};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_text::Pattern;
use std::ops::{Deref, DerefMut};

/// Why an evaluation has no value.
pub type HaltOf<H, L> = Halt<<L as Language>::Fault<<H as Heap>::Term>>;

/// The value of an operation, or the reason why it has none.
pub type Eval<H, L> = Result<<H as Heap>::Term, HaltOf<H, L>>;

/// The machine during a run: the context of all algorithms, and the data of the run.
///
/// An evaluation that fails with [`Stop::SliceOver`] starts again later from the same operands. So
/// it must not take them off the stack; the run does that once the evaluation has succeeded. A
/// long evaluation keeps its progress and continues, see [`Machine::resumable`].
pub struct Machine<'h, H: Heap, L: Language> {
    /// What all algorithms work with.
    pub context: Context<'h, H>,
    program: &'h Program<L>,
    pub(crate) slots: Slots<H::Term>,
    pub(crate) stack: Stack<H::Term>,
    /// The evaluation that the current instruction has begun, if it was suspended.
    pub(crate) work: Option<L::Work<H::Term>>,
    /// The list that the current instruction walks for the machine itself, if it was suspended.
    pub(crate) counting: Option<Counting<H::Term>>,
    /// See [`Program::multiplies`].
    pub(crate) multiplies: bool,
    /// Memory for the operands of a new map.
    operands_of_new: Vec<H::Term>,
    /// Whether the calls of a built-in may be runs of their own, see [`Next::Fork`](crate::Next::Fork).
    pub forks: bool,
    /// The names that the run has bound.
    pub globals: Globals<H::Term>,
    /// See [`Language::Cache`].
    pub cache: L::Cache<H::Term>,
}

/// A list that is counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counting<T> {
    pub(crate) rest: T,
    pub(crate) count: usize,
}

impl<T> Rooted for Counting<T> {
    type Term = T;
    type With<U> = Counting<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Counting<X::Into>, X::Lost> {
        Ok(Counting {
            rest: by.term(self.rest)?,
            count: self.count,
        })
    }
}

/// A state of an evaluation: one of those that the language has.
pub trait Resumable<W>: Into<W> {
    /// Returns the state, if it is of this kind.
    fn of_work(work: W) -> Option<Self>;
}

impl<'h, H: Heap, L: Language> Deref for Machine<'h, H, L> {
    type Target = Context<'h, H>;

    #[inline(always)]
    fn deref(&self) -> &Context<'h, H> {
        &self.context
    }
}

impl<H: Heap, L: Language> DerefMut for Machine<'_, H, L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.context
    }
}

/// The slots, the stack, and what has begun.
pub(crate) type Data<T, W> = (Slots<T>, Stack<T>, Option<W>, Option<Counting<T>>);

impl<'h, H: Heap, L: Language> Machine<'h, H, L> {
    #[inline]
    pub(crate) fn new(
        heap: &'h mut H,
        program: &'h Program<L>,
        meter: Meter,
        consts: &'h [H::Term],
        (slots, stack, work, counting): Data<H::Term, L::Work<H::Term>>,
        globals: Globals<H::Term>,
    ) -> Self {
        Machine {
            context: Context::new(heap, meter, consts, program.reading),
            slots,
            stack,
            work,
            counting,
            multiplies: program.multiplies,
            operands_of_new: Vec::new(),
            forks: false,
            globals,
            cache: L::Cache::default(),
            program,
        }
    }

    /// From now on a copy of the result could be much larger than the result.
    pub fn uses_values_again(&mut self) {
        self.multiplies = true;
    }

    /// Returns the program.
    #[inline]
    pub fn program(&self) -> &'h Program<L> {
        self.program
    }

    /// Returns the contents of all slots of the current activation.
    #[inline]
    pub fn slots(&self) -> &[H::Term] {
        self.slots.current()
    }

    /// Returns the content of a slot.
    #[inline]
    pub fn slot(&self, slot: Slot) -> H::Term {
        self.slots[slot as usize]
    }

    /// Changes the content of a slot, such as that of the item.
    #[inline]
    pub fn set_slot(&mut self, slot: Slot, content: H::Term) {
        self.slots[slot as usize] = content;
    }

    /// Returns a pattern.
    #[inline]
    pub fn pattern(&self, id: PatternId) -> Option<&'h Pattern> {
        self.program.patterns.get(id as usize)
    }

    /// Returns the operands, in the order of their evaluation.
    #[inline]
    pub fn operands(&mut self, apply: &Apply<L>) -> &[H::Term] {
        (self.stack).top(apply.operands as usize, self.context.heap)
    }

    /// Returns the operands of a binary operation.
    #[inline]
    pub fn two_operands(&mut self, apply: &Apply<L>) -> (H::Term, H::Term) {
        match *self.operands(apply) {
            [left, right] => (left, right),
            _ => (self.heap.nil(), self.heap.nil()),
        }
    }

    /// Returns the operand of a unary operation.
    #[inline]
    pub fn one_operand(&mut self, apply: &Apply<L>) -> H::Term {
        match *self.operands(apply) {
            [value] => value,
            _ => self.heap.nil(),
        }
    }

    /// Pushes a value.
    #[inline]
    pub fn push(&mut self, value: H::Term) {
        self.stack.push(value);
    }

    /// Pops a value.
    #[inline]
    pub fn pop(&mut self) -> H::Term {
        self.stack.pop(self.context.heap)
    }

    /// Puts a value below those that were pushed last.
    #[inline]
    pub(crate) fn insert_below(&mut self, count: usize, value: H::Term) {
        self.stack.insert_below(count, value, self.context.heap);
    }

    /// Drops the values that were pushed last.
    #[inline]
    pub fn drop_top(&mut self, count: usize) {
        self.stack.drop_top(count, self.context.heap);
    }

    /// Returns the values that were pushed last.
    #[inline]
    pub fn top_values(&mut self, count: usize) -> &[H::Term] {
        self.stack.top_in_place(count, &*self.context.heap)
    }

    /// Returns the value that was pushed last.
    pub fn top(&mut self) -> H::Term {
        match *self.top_values(1) {
            [value] => value,
            _ => self.heap.nil(),
        }
    }

    /// Makes a list of the values that were pushed last, onto a list.
    pub(crate) fn list_of_top(&mut self, count: usize, list: H::Term) -> H::Term {
        let heap = &mut *self.context.heap;
        let values = self.stack.top(count, heap);
        heap.make_list_onto(values, list)
    }

    /// Builds a map with the constant keys that start at `first`, and the operands as values.
    pub fn map_of_operands(&mut self, apply: &Apply<L>, first: ConstId) -> H::Term {
        let keys = self.constants(first, apply.operands);
        let heap = &mut *self.context.heap;
        let values = self.stack.top(apply.operands as usize, heap);
        heap.make_map(keys, values)
    }

    /// Same as [`Context::map_as_before`] with the operands of an instruction.
    #[inline]
    pub fn map_of_operands_as_before(
        &mut self,
        apply: &Apply<L>,
        maps: &[H::Term],
    ) -> Result<Option<H::Term>, Stop> {
        let mut operands = std::mem::take(&mut self.operands_of_new);
        operands.clear();
        operands.extend_from_slice(self.operands(apply));
        let made = self.map_as_before(apply.key, maps, &operands);
        self.operands_of_new = operands;
        made
    }

    /// Runs an evaluation that [`Stop::SliceOver`] can suspend and that continues later with the same
    /// state. Whenever `evaluate` suspends, the state must be such that nothing is done twice;
    /// [`Meter::advanced`] reports progress.
    #[inline]
    pub fn resumable<S: Resumable<L::Work<H::Term>>, R>(
        &mut self,
        start: impl FnOnce(&mut Self) -> S,
        evaluate: impl FnOnce(&mut Self, &mut S) -> Result<R, HaltOf<H, L>>,
    ) -> Result<R, HaltOf<H, L>> {
        let mut state = match self.work.take().and_then(S::of_work) {
            None => start(self),
            Some(state) => state,
        };
        let value = evaluate(self, &mut state);
        if let Err(Halt::Stop(Stop::SliceOver)) = value {
            self.work = Some(state.into());
        }
        value
    }

    /// Returns the suspended evaluation, if there is one.
    #[inline]
    pub fn begun(&self) -> Option<&L::Work<H::Term>> {
        self.work.as_ref()
    }

    /// Counts the items of a list; returns its end, too. Can be suspended and resumed.
    pub(crate) fn count_items(&mut self, list: H::Term) -> Result<(usize, H::Term), Stop> {
        let begun = self.counting.take();
        let mut counting = begun.unwrap_or(Counting {
            rest: list,
            count: 0,
        });
        while let Some((_, tail)) = self.heap.uncons(counting.rest) {
            if let Err(stop) = self.consume_fuel(1) {
                if stop == Stop::SliceOver {
                    self.counting = Some(counting);
                }
                return Err(stop);
            }
            counting.rest = tail;
            counting.count += 1;
            self.meter.advanced();
        }
        Ok((counting.count, counting.rest))
    }

    /// Returns whether this is a proper list. Can be suspended and resumed.
    pub fn is_proper_list(&mut self, list: H::Term) -> Result<bool, Stop> {
        let (_, end) = self.count_items(list)?;
        Ok(self.heap.is_empty_list(end))
    }

    /// Passes the remaining items of the operation's current value, which must be a proper list, to
    /// `visit`, see [`each_item`](ptc_kernels::each_item).
    #[inline]
    pub fn each_item(
        &mut self,
        apply: &Apply<L>,
        walk: &mut Walk<H::Term>,
        visit: impl FnMut(&mut Self, H::Term) -> Result<(), HaltOf<H, L>>,
    ) -> Result<(), HaltOf<H, L>> {
        let is_error = |halt: &HaltOf<H, L>| matches!(halt, Halt::Fault(_));
        match ptc_kernels::each_item(self, walk, visit, is_error)? {
            true => Ok(()),
            false => Err(self.not_a_list(apply.op, self.slot(apply.input))),
        }
    }

    /// Returns what an algorithm has computed for an operation, or what halts the run.
    #[inline]
    pub fn worked<R>(
        &self,
        op: L::Op,
        result: Result<R, Early<H::Term>>,
    ) -> Result<R, HaltOf<H, L>> {
        match result {
            Ok(value) => Ok(value),
            Err(Early::Stop(stop)) => Err(stop.into()),
            Err(Early::Wrong(wrong)) => Err(self.wrong(op, wrong)),
            Err(Early::OfBoth(why, terms)) => Err(Halt::fault(L::wrong(op, why, terms.to_vec()))),
        }
    }

    /// Builds the fault of an operation whose operand an algorithm cannot work with.
    #[cold]
    pub fn wrong(&self, op: L::Op, wrong: Wrong<H::Term>) -> HaltOf<H, L> {
        Halt::fault(L::wrong(op, wrong.why, wrong.term.into_iter().collect()))
    }

    /// Builds the fault for a current value that is not a proper list.
    #[cold]
    pub fn not_a_list(&self, op: L::Op, value: H::Term) -> HaltOf<H, L> {
        self.wrong(op, Wrong::of(Why::NotAList, value))
    }
}
