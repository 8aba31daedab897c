//! The state of a run between two executions: where it is, and its terms.
//!
//! `State<T>` is the state of a run that was just stopped or is about to go on; `State<()>` is what is kept while it is
//! suspended, see [`suspend`](ptc_term::suspend).

use super::failing::Failing;
use super::frame::{Frame, Work};
use super::stack::Stack;
use crate::language::Language;
use crate::program::{Instr, Pc, Program, Slot, INPUT, NO_PC};
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// The state of a run between two executions.
#[derive(Debug, Clone, PartialEq)]
pub struct State<T> {
    /// The instruction at which the run goes on.
    pub(super) pc: Pc,
    pub(super) has_input: bool,
    /// Whether the run is one iteration of a loop, see [`State::round`].
    pub(super) is_round: bool,
    /// The address at which it ends if it is a branch, else [`NO_PC`].
    pub(super) ends_at: Pc,
    /// Whether the run was suspended before the instruction had advanced.
    pub(super) whole: bool,
    /// Whether it has used a value so often as [`Program::multiplies`] says.
    pub(super) multiplies: bool,
    pub(super) slots: Vec<T>,
    pub(super) stack: Stack<T>,
    /// The operations with a body around `pc`, innermost last.
    pub(super) frames: Vec<Frame<T>>,
    /// The evaluation that the instruction has begun.
    pub(super) work: Option<Box<Work<T>>>,
    /// The fault that is being checked. Then no evaluation has begun.
    pub(super) failing: Option<Box<Failing<T>>>,
}

impl<T: Copy> Rooted for State<T> {
    type Term = T;
    type With<U> = State<U>;

    #[inline]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<State<X::Into>, X::Lost> {
        Ok(State {
            pc: self.pc,
            has_input: self.has_input,
            is_round: self.is_round,
            ends_at: self.ends_at,
            whole: self.whole,
            multiplies: self.multiplies,
            slots: by.all(self.slots)?,
            stack: self.stack.exchange(by)?,
            frames: self.frames.exchange(by)?,
            work: self.work.exchange(by)?,
            failing: self.failing.exchange(by)?,
        })
    }
}

impl<T: Copy> State<T> {
    /// Returns the start of a run. `input`: the value that the program starts with; `now`: the time of the start, if the
    /// program reads it.
    pub fn start<H: Heap<Term = T>, L: Language>(
        program: &Program<L>,
        heap: &mut H,
        input: Option<T>,
        now: impl FnOnce(&mut H) -> T,
    ) -> Self {
        let mut slots = vec![heap.nil(); program.slots as usize];
        slots[INPUT as usize] = input.unwrap_or(slots[INPUT as usize]);
        if let Some(slot) = program.now {
            slots[slot as usize] = now(heap);
        }
        State {
            pc: 0,
            has_input: input.is_some(),
            is_round: false,
            ends_at: NO_PC,
            whole: false,
            multiplies: false,
            slots,
            stack: Stack::new(heap.make_list(&[])),
            frames: Vec::new(),
            work: None,
            failing: None,
        }
    }

    /// Returns the start of one iteration of the loop, or of one of the branches, at whose start the run was stopped; its
    /// result is the value of the body, or of the branch. `item`: the item, or the index of the branch. `None` if the run
    /// was not stopped there.
    pub fn round<H: Heap<Term = T>, L: Language>(
        self,
        program: &Program<L>,
        heap: &mut H,
        item: T,
    ) -> Option<Self> {
        let mut slots = self.slots;
        let (pc, ends_at) = match (
            program.branches_at(self.pc),
            program.code.get(self.pc as usize),
        ) {
            (Some(branches), _) => {
                let index = usize::try_from(heap.small_integer(item)?).ok()?;
                (*branches.starts.get(index)?, branches.end_of(index))
            }
            (None, Some(Instr::Enter(looped))) => {
                *slots.get_mut(looped.item as usize)? = item;
                (self.pc + 1, NO_PC)
            }
            _ => return None,
        };
        Some(State {
            pc,
            has_input: self.has_input,
            is_round: true,
            ends_at,
            whole: false,
            multiplies: false,
            slots,
            stack: Stack::new(heap.make_list(&[])),
            frames: Vec::new(),
            work: None,
            failing: None,
        })
    }

    /// Moves from the start of the loop, or of the branches, at which the run was stopped to the end: the run goes on with
    /// the value of the loop, or with the list of the values of the branches. Returns the answer that it is resumed with;
    /// `None` if the run was not stopped there.
    pub fn joined<H: Heap<Term = T>, L: Language>(
        mut self,
        program: &Program<L>,
        heap: &H,
        value: T,
    ) -> Option<(Self, Option<T>)> {
        if let Some(branches) = program.branches_at(self.pc) {
            let mut rest = value;
            for _ in &branches.starts {
                let (value, tail) = heap.uncons(rest)?;
                self.stack.push(value);
                rest = tail;
            }
            self.pc = branches.end;
            return Some((self, None));
        }
        match program.code.get(self.pc as usize) {
            // The list is not tallied yet.
            Some(Instr::Enter(looped)) => {
                self.pc = looped.end - 2 * Pc::from(looped.tally.is_some())
            }
            _ => return None,
        }
        Some((self, Some(value)))
    }

    /// Moves to what gives the value of the call at which the run was stopped if its tool fails: the run goes on with
    /// the text of the error, as with an answer. `None` if the error of this call is not caught.
    pub fn failed_call<L: Language>(mut self, program: &Program<L>) -> Option<Self> {
        let call = self.pc.checked_sub(1)?;
        match program.code.get(call as usize) {
            Some(Instr::Call { on_error, .. }) if *on_error != NO_PC => self.pc = *on_error,
            _ => return None,
        }
        Some(self)
    }

    /// Returns the instruction at which the run goes on.
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Replaces the contents of all slots but those that are kept.
    pub fn clear_slots(&mut self, keeps: impl Fn(Slot) -> bool, with: T) {
        for (slot, content) in self.slots.iter_mut().enumerate() {
            if !keeps(slot as Slot) {
                *content = with;
            }
        }
    }

    /// Returns the items that the innermost operation with a body has not visited.
    pub fn remaining_items(&mut self) -> Option<&mut T> {
        Some(&mut self.frames.last_mut()?.walk.rest)
    }
}
