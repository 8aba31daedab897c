//! The state of a run between two executions: where it is, and its terms.
//!
//! `State<T>` is the state of a run that was just stopped or is about to go on; `State<()>` is what is kept while it is
//! suspended, see [`suspend`](ptc_term::suspend).

use crate::activations::{self, Activations, Caller, Returning};
use crate::built_ins;
use crate::frame::Frame;
use crate::globals::Globals;
use crate::language::Language;
use crate::machine::Counting;
use crate::program::{Instr, Pc, Program, Slot, INPUT, NO_PC};
use crate::stack::Stack;
use crate::turn::Turn;
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// The state of a run between two executions.
#[derive(Debug, Clone, PartialEq)]
pub struct State<L: Language, T> {
    /// The instruction at which the run goes on.
    pub(crate) pc: Pc,
    pub(crate) has_input: bool,
    /// Whether the run is one iteration of a loop, see [`State::round`].
    pub(crate) is_round: bool,
    /// The address at which it ends if it is a branch, or goes on without an answer, else [`NO_PC`].
    pub(crate) ends_at: Pc,
    /// Number of operations with a body around that address.
    pub(crate) ends_in: u32,
    /// Where its loop or its branches are that run in turn.
    pub(crate) turn: Turn,
    /// Whether the run was suspended before the instruction had advanced.
    pub(crate) whole: bool,
    /// Whether it has used a value so often as [`Program::multiplies`] says.
    pub(crate) multiplies: bool,
    /// The slots of the current activation.
    pub(crate) slots: Vec<T>,
    pub(crate) stack: Stack<T>,
    /// The activations around it, if there are any, or if the program has names.
    // The derived implementations look for the language's types here.
    #[allow(clippy::type_complexity)]
    pub(crate) activations: Option<Box<Activations<L::Work<T>, L::Work<()>, T>>>,
    /// The operations with a body around `pc`, innermost last.
    pub(crate) frames: Vec<Frame<T>>,
    /// The evaluation that the instruction has begun.
    pub(crate) work: Option<L::Work<T>>,
    /// The list that the instruction walks for the machine itself.
    pub(crate) counting: Option<Counting<T>>,
    /// The fault that is being checked. Then no evaluation has begun.
    // The derived implementations look for the language's types here.
    #[allow(clippy::type_complexity)]
    pub(crate) failing: Option<Box<Failing<L::Fault<T>, T>>>,
}

/// A fault that is being checked: a run that has failed runs no further instruction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failing<F, T> {
    pub fault: F,
    /// Number of enclosing loops whose lists are known to be proper.
    pub loops: usize,
    /// The unread part of the next loop's list, once a part has been read.
    pub rest: Option<T>,
    /// Number of the fault's terms that have been weighed.
    pub weighed: usize,
}

/// The fault of a language that is being checked.
pub(crate) type FailingOf<L, T> = Box<Failing<<L as Language>::Fault<T>, T>>;

impl<F, T> Failing<F, T> {
    #[allow(clippy::type_complexity)]
    fn exchange<L: Language<Fault<T> = F>, X: Exchange<T>>(
        self,
        by: &mut X,
    ) -> Result<Failing<L::Fault<X::Into>, X::Into>, X::Lost> {
        Ok(Failing {
            fault: L::exchange_fault(self.fault, by)?,
            loops: self.loops,
            rest: by.optional(self.rest)?,
            weighed: self.weighed,
        })
    }
}

impl<L: Language, T: Copy> Rooted for State<L, T> {
    type Term = T;
    type With<U> = State<L, U>;

    #[inline]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<State<L, X::Into>, X::Lost> {
        Ok(State {
            pc: self.pc,
            has_input: self.has_input,
            is_round: self.is_round,
            ends_at: self.ends_at,
            ends_in: self.ends_in,
            turn: self.turn,
            whole: self.whole,
            multiplies: self.multiplies,
            slots: by.all(self.slots)?,
            stack: self.stack.exchange(by)?,
            activations: match self.activations {
                None => None,
                Some(around) => Some(Box::new(activations::exchange::<L, T, X>(*around, by)?)),
            },
            frames: self.frames.exchange(by)?,
            work: match self.work {
                None => None,
                Some(work) => Some(L::exchange_work(work, by)?),
            },
            counting: self.counting.exchange(by)?,
            failing: match self.failing {
                None => None,
                Some(failing) => Some(Box::new(failing.exchange::<L, X>(by)?)),
            },
        })
    }
}

impl<L: Language, T: Copy> State<L, T> {
    /// Returns the start of a run. `input`: the value that the program starts with; `now`: the time of the start, if the
    /// program reads it.
    pub fn start<H: Heap<Term = T>>(
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
            ends_in: 0,
            turn: Turn::default(),
            whole: false,
            multiplies: false,
            slots,
            stack: Stack::new(heap.make_list(&[])),
            activations: Activations::new(Globals::new(program.globals), heap).kept(),
            frames: Vec::new(),
            work: None,
            counting: None,
            failing: None,
        }
    }

    /// Returns the start of one iteration of the loop, of one of the branches, or of one of the calls, at whose start the run was stopped; its
    /// result is the value of the body, of the branch, or of the call. `item`: the item, the index of the branch, or the call. `None` if the run
    /// was not stopped there, nor at a call of what runs [in turn](State::in_turn).
    pub fn round<H: Heap<Term = T>>(
        self,
        program: &Program<L>,
        heap: &mut H,
        item: T,
    ) -> Option<Self> {
        if self.is_at_calls() {
            return self.called(heap, item);
        }
        let mut slots = self.slots;
        let at = self.turn.at().unwrap_or(self.pc);
        let (pc, ends_at) = match (program.branches_at(at), program.code.get(at as usize)) {
            (Some(branches), _) => {
                let index = usize::try_from(heap.small_integer(item)?).ok()?;
                (*branches.starts.get(index)?, branches.end_of(index))
            }
            (None, Some(Instr::Enter(looped))) => {
                *slots.get_mut(looped.item as usize)? = item;
                (at + 1, NO_PC)
            }
            _ => return None,
        };
        Some(State {
            pc,
            has_input: self.has_input,
            is_round: true,
            ends_at,
            ends_in: 0,
            turn: Turn::default(),
            whole: false,
            multiplies: false,
            slots,
            stack: Stack::new(heap.make_list(&[])),
            activations: match self.activations {
                None => None,
                Some(around) => Activations::new(around.globals, heap).kept(),
            },
            frames: Vec::new(),
            work: None,
            counting: None,
            failing: None,
        })
    }

    /// Returns whether the run was stopped where a built-in calls several functions.
    fn is_at_calls(&self) -> bool {
        (self.activations.as_ref()).is_some_and(|it| it.returning == Returning::Forks)
    }

    /// Returns the start of one of the calls of a built-in: a list of the function and its arguments.
    fn called<H: Heap<Term = T>>(self, heap: &mut H, call: T) -> Option<Self> {
        let around = self.activations?;
        let mut stack = Stack::new(heap.make_list(&[]));
        let mut rest = call;
        while let Some((part, tail)) = heap.uncons(rest) {
            stack.push(part);
            rest = tail;
        }
        let arguments = u32::try_from(stack.len().checked_sub(1)?).ok()?;
        let mut activations = Activations::new(around.globals, heap);
        activations.returning = Returning::Enters(arguments, false);
        Some(State {
            pc: self.pc,
            has_input: self.has_input,
            is_round: true,
            ends_at: NO_PC,
            ends_in: 0,
            turn: Turn::default(),
            whole: false,
            multiplies: self.multiplies,
            slots: Vec::new(),
            stack,
            activations: activations.kept(),
            frames: Vec::new(),
            work: None,
            counting: None,
            failing: None,
        })
    }

    /// Moves from the start of the loop, or of the branches, at which the run was stopped to the end: the run goes on with
    /// the value of the loop, or with the list of the values of the branches. Returns the answer that it is resumed with;
    /// `None` if the run was not stopped there.
    pub fn joined<H: Heap<Term = T>>(
        mut self,
        program: &Program<L>,
        heap: &H,
        value: T,
    ) -> Option<(Self, Option<T>)> {
        if let Some(around) = self.activations.as_mut() {
            if around.returning == Returning::Forks {
                around.returning = Returning::Value;
                return Some((self, Some(value)));
            }
        }
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

    /// Begins the loop, or the branches, at whose start the run was stopped: its iterations run in turn in the run itself, and nothing in them
    /// stops for rounds. `None` if the run was not stopped there.
    pub fn in_turn(mut self, program: &Program<L>) -> Option<Self> {
        let is_loop = || {
            let instr = program.code.get(self.pc as usize)?;
            instr.as_loop()
        };
        (program.branches_at(self.pc).is_some() || is_loop().is_some()).then_some(())?;
        self.turn = Turn::new(self.pc);
        Some(self)
    }

    /// Moves to what gives the value of the call at which the run was stopped if its tool fails, or to the innermost handler: the run goes on with
    /// the text of the error, as with an answer. `None` if the error of this call is not caught.
    pub fn failed_call<H: Heap<Term = T>>(
        mut self,
        program: &Program<L>,
        heap: &H,
    ) -> Option<Self> {
        let call = self.pc.checked_sub(1)?;
        match program.code.get(call as usize) {
            // What a built-in calls is not caught by an instruction.
            Some(Instr::Call { on_error, .. }) if *on_error != NO_PC && self.runs_code() => {
                self.pc = *on_error;
                Some(self)
            }
            _ => self.handled(heap),
        }
    }

    /// Returns whether code runs, and no value is on its way to what waits for it.
    fn runs_code(&self) -> bool {
        (self.activations.as_ref()).is_none_or(|it| it.returning == Returning::Nothing)
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

impl<L: Language, T: Copy> State<L, T> {
    /// Goes on at the innermost handler; `None` if there is none.
    pub(crate) fn handled<H: Heap<Term = T>>(mut self, heap: &H) -> Option<Self> {
        let around = self.activations.as_mut()?;
        let handler = around.handlers.pop()?;
        while around.callers.len() > handler.callers as usize {
            match around.callers.pop() {
                Some(Caller::Code { slots, .. }) => {
                    let slots = slots as usize;
                    self.slots = around.below.top(slots, heap).to_vec();
                    around.below.drop_top(slots, heap);
                }
                Some(Caller::BuiltIn) => {
                    built_ins::pop::<L, H>(&mut around.built_ins, heap)?;
                }
                None => break,
            }
        }
        around.returning = Returning::Nothing;
        self.frames.clear();
        self.work = None;
        // The call that is guarded may have taken its arguments off the stack.
        let above = self.stack.len().saturating_sub(handler.height);
        self.stack.drop_top(above, heap);
        self.pc = handler.to;
        Some(self)
    }
}
