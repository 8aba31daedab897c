//! The machine that evaluates operations: operands, constants, slots, limits and resumable work.

mod lists;

use super::frame::Work;
use super::layout::Layout;
use super::needle::Needle;
use super::stack::Stack;
use crate::fault::{Code, Fault, Halt, Name};
use crate::language::Language;
use crate::program::{Apply, ConstId, PatternId, Program, Slot};
use ptc_term::heap::{words_of_map, Heap};
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_text::Pattern;

/// Fuel for an entry of a new map: a large map is a tree that is built in one call.
pub const MAP_ENTRY: usize = 32;

/// Maximum number of entries of a new map that need not be counted: their evaluation has been.
const FEW_ENTRIES: usize = 8;

/// Fuel for a key of a new map, per unit of a comparison with it: the keys are sorted, or hashed
/// and compared.
pub const KEY_OF_NEW: usize = 16;

/// Fuel per limb of a big integer that is read or made.
pub const UNITS_A_LIMB: usize = 2;

/// Maximum number of constants with a cache: each slice of a run makes the caches anew.
pub(super) const MOST_CACHED: usize = 4_096;

/// Maximum number of items of a new list that are made in one call. For more, the VM gets fresh
/// memory from the system, page by page.
pub(super) const LIST_BATCH: usize = 4_096;

/// Number of terms that an evaluation keeps between two checks of the heap limit.
pub const KEPT_BETWEEN_CHECKS: usize = 1024;

/// The value of an operation, or the reason why it has none.
pub type Eval<H> = Result<<H as Heap>::Term, Halt<<H as Heap>::Term>>;

/// The machine during a run.
///
/// An evaluation that fails with [`Stop::SliceOver`] starts again later from the same operands. So
/// it must not take them off the stack; the run does that once the evaluation has succeeded. A
/// long evaluation keeps its progress and continues, see [`Machine::resumable`].
pub struct Machine<'h, H: Heap> {
    /// The heap that holds the terms.
    pub heap: &'h mut H,
    /// The limits.
    pub meter: Meter,
    pub(super) consts: &'h [H::Term],
    /// See [`Program::patterns`].
    pub(super) patterns: &'h [Pattern],
    pub(super) slots: Vec<H::Term>,
    pub(super) stack: Stack<H::Term>,
    /// The work of the evaluation that the current instruction has begun, if it was suspended.
    pub(super) work: Option<Box<Work<H::Term>>>,
    /// See [`Program::multiplies`].
    pub(super) multiplies: bool,
    /// The caches of the first [`MOST_CACHED`] constants; empty until a key is looked up.
    pub(super) keys: Vec<Key<H::KeyCache>>,
    /// See [`Program::any_keys`].
    pub(super) any_keys: bool,
    /// See [`Program::values`].
    pub(super) values: bool,
    /// The atoms of the names of the first [`MOST_CACHED`] constants; empty if no atom is a key.
    pub(super) atoms: Vec<Atom<H::Term, H::KeyCache>>,
    pub(super) needle: Needle,
    /// The empty stacks of walks that have ended, for the next ones.
    pub(super) spare_walks: Vec<Vec<H::Term>>,
    /// How maps were made that are like the next ones.
    pub(super) layouts: Vec<Layout<H::Term>>,
    /// Memory for the operands and the values of a new map.
    pub(super) operands_of_new: Vec<H::Term>,
    pub(super) values_of_new: Vec<H::Term>,
}

/// Cached facts about a constant that is used as a key.
#[derive(Clone, Default)]
pub(super) struct Key<C> {
    /// The heap's cache of the last successful look-up.
    pub cache: C,
    /// Cost of a comparison with the key; 0 while it is unknown.
    pub weight: u32,
}

/// The atom of a constant key's name.
#[derive(Clone)]
pub(super) enum Atom<T, C> {
    /// Not looked up yet.
    NotAsked,
    /// The atom does not exist, so no map has it as a key.
    None,
    /// The atom, and the cache of its last successful look-up.
    Known(T, C),
    /// The same for an atom that is not a field of structs, see [`Heap::is_hidden`].
    Hidden(T, C),
}

/// The slots, the stack, and the work of the evaluation that has begun.
type Data<T> = (Vec<T>, Stack<T>, Option<Box<Work<T>>>);

impl<'h, H: Heap> Machine<'h, H> {
    pub(super) fn new<L: Language>(
        heap: &'h mut H,
        program: &'h Program<L>,
        meter: Meter,
        consts: &'h [H::Term],
        (slots, stack, work): Data<H::Term>,
    ) -> Self {
        Machine {
            heap,
            meter,
            consts,
            patterns: &program.patterns,
            slots,
            stack,
            work,
            multiplies: program.multiplies,
            keys: Vec::new(),
            any_keys: program.any_keys,
            values: program.values,
            atoms: match program.any_keys || program.values {
                true => vec![Atom::NotAsked; consts.len().min(MOST_CACHED)],
                false => Vec::new(),
            },
            needle: Needle::default(),
            spare_walks: Vec::new(),
            layouts: Vec::new(),
            operands_of_new: Vec::new(),
            values_of_new: Vec::new(),
        }
    }

    /// From now on a copy of the result could be much larger than the result.
    pub fn uses_values_again(&mut self) {
        self.multiplies = true;
    }

    /// Returns the content of a slot.
    #[inline]
    pub fn slot(&self, slot: Slot) -> H::Term {
        self.slots[slot as usize]
    }

    /// Returns a constant.
    #[inline]
    pub fn constant(&self, id: ConstId) -> H::Term {
        self.consts[id as usize]
    }

    /// Returns a pattern.
    #[inline]
    pub fn pattern(&self, id: PatternId) -> Option<&'h Pattern> {
        self.patterns.get(id as usize)
    }

    /// Returns whether atoms are keys.
    pub fn takes_atoms(&self) -> bool {
        self.any_keys || self.values
    }

    /// Returns `count` consecutive constants.
    pub fn constants(&self, first: ConstId, count: u32) -> &'h [H::Term] {
        &self.consts[first as usize..(first + count) as usize]
    }

    /// Returns the operands, in the order of their evaluation.
    #[inline]
    pub fn operands<L: Language>(&mut self, apply: &Apply<L>) -> &[H::Term] {
        self.stack.top(apply.operands as usize, self.heap)
    }

    /// Returns the operands of a binary operation.
    #[inline]
    pub fn two_operands<L: Language>(&mut self, apply: &Apply<L>) -> (H::Term, H::Term) {
        match *self.operands(apply) {
            [left, right] => (left, right),
            _ => (self.heap.nil(), self.heap.nil()),
        }
    }

    /// Returns the operand of a unary operation.
    #[inline]
    pub fn one_operand<L: Language>(&mut self, apply: &Apply<L>) -> H::Term {
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

    /// Returns the value that was pushed last.
    pub fn top(&mut self) -> H::Term {
        match *self.stack.top(1, self.heap) {
            [value] => value,
            _ => self.heap.nil(),
        }
    }

    /// Returns the number if the term is one. Counts a long one before reading it.
    #[inline]
    pub fn number(&mut self, term: H::Term) -> Result<Option<Number>, Halt<H::Term>> {
        if let Some(value) = self.heap.small_integer(term) {
            return Ok(Some(Number::Int(value)));
        }
        if let Some(value) = self.heap.float(term) {
            return Ok(Some(Number::Float(value)));
        }
        match self.heap.limbs(term) {
            0 => {}
            limbs => self.consume_fuel_at_once(UNITS_A_LIMB * limbs)?,
        }
        Ok(self.heap.number(term))
    }

    /// Builds a map with the constant keys that start at `first`, and the operands as values.
    pub fn map_of_operands<L: Language>(&mut self, apply: &Apply<L>, first: ConstId) -> H::Term {
        let (first, count) = (first as usize, apply.operands as usize);
        let values = self.stack.top(count, self.heap);
        self.heap
            .make_map(&self.consts[first..first + count], values)
    }

    /// Counts work before it is done.
    #[inline]
    pub fn consume_fuel(&mut self, cost: usize) -> Result<(), Halt<H::Term>> {
        Ok(self.meter.consume_fuel(cost, self.heap)?)
    }

    /// Checks that the run may build `words` more.
    pub fn check_heap_limit(&self, words: usize) -> Result<(), Halt<H::Term>> {
        Ok(self.meter.check_heap_limit(words, self.heap)?)
    }

    /// Counts a new map with this many entries: the fuel and the words.
    #[inline]
    pub fn count_new_map(&mut self, entries: usize) -> Result<(), Halt<H::Term>> {
        if entries > FEW_ENTRIES {
            self.check_heap_limit(words_of_map(entries))?;
            self.consume_fuel_at_once(MAP_ENTRY * entries)?;
        }
        Ok(())
    }

    /// Evaluates an operation over its current value, see [`Machine::resumable_over`].
    #[inline]
    pub fn resumable<R, L: Language>(
        &mut self,
        apply: &Apply<L>,
        evaluate: impl FnOnce(&mut Self, &mut Work<H::Term>) -> Result<R, Halt<H::Term>>,
    ) -> Result<R, Halt<H::Term>> {
        self.resumable_over(self.slot(apply.input), evaluate)
    }

    /// Runs an evaluation that [`Stop::SliceOver`] can suspend and that continues later with the same
    /// work. The work starts as a walk over `list`. Whenever `evaluate` suspends, the state of the
    /// work must be such that nothing is done twice; [`Meter::advanced`] reports progress.
    #[inline]
    pub fn resumable_over<R>(
        &mut self,
        list: H::Term,
        evaluate: impl FnOnce(&mut Self, &mut Work<H::Term>) -> Result<R, Halt<H::Term>>,
    ) -> Result<R, Halt<H::Term>> {
        let mut work = match self.work.take() {
            None => Work::over(list),
            Some(work) => *work,
        };
        let value = evaluate(self, &mut work);
        if let Err(Halt::Stop(Stop::SliceOver)) = value {
            self.work = Some(Box::new(work));
        }
        value
    }

    /// Returns what the suspended evaluation has begun with, if there is one.
    #[inline]
    pub fn begun_over(&self) -> Option<H::Term> {
        self.work.as_ref().map(|work| work.walk.rest)
    }

    /// Makes a number; `badarith` for a float that is not finite.
    pub fn make_number(&mut self, name: impl Into<Name>, number: Number) -> Eval<H> {
        match self.heap.make_number(number) {
            Some(term) => Ok(term),
            None => Err(self.fault(name, Code::BadArith, vec![])),
        }
    }

    /// Builds the fault for a current value that is not a proper list.
    #[cold]
    pub fn not_a_list(&self, name: impl Into<Name>, value: H::Term) -> Halt<H::Term> {
        self.fault(name, Code::NeedsList, vec![value])
    }

    /// Builds a fault of the operation.
    #[cold]
    pub fn fault(&self, name: impl Into<Name>, code: Code, terms: Vec<H::Term>) -> Halt<H::Term> {
        Fault::new(code, Some(name.into()), terms).into()
    }
}
