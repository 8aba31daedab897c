//! Calls of functions: activations, function values, and built-ins that call back.
//!
//! The slots of an instruction are those of its activation. A call leaves the slots of the caller where they are, and moves the
//! terms of its open loops onto the stack; the return moves these back. What is frozen stays frozen, so a deep recursion that is
//! suspended often costs no more than one that is not. A built-in that calls a function value is a caller among the
//! activations; its state is kept [apart](crate::built_ins). No call recurs natively.

use crate::activations::{Caller, Returning};
use crate::built_ins;
use crate::execute::Execute;
use crate::exit::Exit;
use crate::frame::Frame;
use crate::halt::Name;
use crate::language::Language;
use crate::machine::HaltOf;
use crate::program::Pc;
use crate::run::Vm;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};

/// Words of native memory for a caller, beside those of its slots.
const WORDS_OF_CALLER: usize = 8;
/// With more arguments than this a call takes longer than a unit of fuel.
const FEW: u32 = 3;
/// Number of callers between two checks of the heap limit.
const CHECKED: usize = 512;

/// What a function value does with its arguments.
pub enum Entered<L: Language, T> {
    /// The code at this address runs. The first slots of its activation are the arguments, of which there are so many on the
    /// stack; the next one is the function, and the others are nil.
    Code {
        /// Its address.
        entry: Pc,
        /// Number of its arguments.
        arguments: u32,
        /// Number of its slots.
        slots: u32,
    },
    /// It has this value.
    Value(T),
    /// The function and its arguments on the stack have been replaced: so many arguments are above the new function.
    Instead(u32),
    /// It is a built-in that calls back, with this state.
    BuiltIn(L::Work<T>),
    /// It is a tool.
    Tool {
        /// The tool's name.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// Only the caller of the run can do it.
    Ask {
        /// Which question it is.
        what: u32,
        /// What it is about.
        about: T,
    },
}

/// What a built-in does next.
pub enum Next<T> {
    /// It has this value.
    Done(T),
    /// It calls a function value with so many arguments, which it has pushed.
    Call(T, u32),
    /// It calls several functions, which may run at the same time, each as a run of its own: a list of lists of a function and its arguments.
    /// It gets the list of their values. Only where the run [forks](crate::Machine::forks).
    Fork {
        /// The name of the built-in.
        name: Name,
        /// The calls.
        calls: T,
    },
}

/// How the run goes on: at the current address, or with the end of the execution.
type CalledOf<H, L> = Result<
    Option<Exit<<H as Heap>::Term, <L as Language>::Fault<<H as Heap>::Term>>>,
    HaltOf<H, L>,
>;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Calls the function value below so many arguments on the stack.
    #[inline]
    pub(crate) fn invoke(&mut self, arguments: u32) -> CalledOf<H, L> {
        match self.frames.is_empty() && self.enters_code(arguments) {
            true if self.callers.len().is_multiple_of(CHECKED) => {
                self.check_callers().map(|()| None).map_err(Into::into)
            }
            true => Ok(None),
            false => self.invoke_any(arguments),
        }
    }

    /// Enters the function below so many arguments, if it is plain code and there is fuel. Returns whether it has.
    #[inline(always)]
    fn enters_code(&mut self, arguments: u32) -> bool {
        let machine = &mut self.machine;
        let Some(values) = machine.stack.at_hand(arguments as usize + 1) else {
            return false;
        };
        let (function, given) = (values[0], &values[1..]);
        let Some((entry, slots)) = L::code_of(machine, function, arguments) else {
            return false;
        };
        if arguments > FEW || !machine.context.meter.consumes(1) {
            return false;
        }
        let nil = machine.context.heap.nil();
        let callers = machine.slots.enter(given, function, slots as usize, nil);
        machine.drop_top(arguments as usize + 1);
        self.callers.push(Caller::Code {
            back: self.pc + 1,
            slots: callers,
            frames: Vec::new(),
            terms: 0,
        });
        self.pc = entry;
        true
    }

    fn invoke_any(&mut self, arguments: u32) -> CalledOf<H, L> {
        let exit = self.enter_function(arguments, true)?;
        match exit {
            None => self.give_back(),
            exit => Ok(exit),
        }
    }

    /// Returns the value on the stack to what waits for it.
    #[inline]
    pub(crate) fn return_value(&mut self) -> CalledOf<H, L> {
        self.machine.slots.end();
        if let Some(Caller::Code {
            back,
            slots,
            frames,
            terms: 0,
        }) = self.callers.last()
        {
            if frames.is_empty() {
                self.pc = *back;
                let machine = &mut self.machine;
                machine.slots.leave(*slots, &*machine.context.heap);
                self.callers.pop();
                machine.context.meter.advanced();
                return Ok(None);
            }
        }
        self.return_to_any()
    }

    fn return_to_any(&mut self) -> CalledOf<H, L> {
        self.returning = Returning::Value;
        self.give_back()
    }

    /// Goes on with a value that is being returned, where the run was suspended.
    pub(crate) fn go_on_returning(&mut self) -> CalledOf<H, L> {
        if self.returning == Returning::Nothing {
            return Ok(None);
        }
        let context = &mut self.machine.context;
        context.meter.begin(context.heap)?;
        self.give_back()
    }

    /// Passes a value on until code runs or the machine stops. Can be suspended and resumed.
    fn give_back(&mut self) -> CalledOf<H, L> {
        loop {
            let exit = match self.returning {
                Returning::Nothing => return Ok(None),
                // It goes on with the values of the calls alone.
                Returning::Forks => {
                    self.is_broken = true;
                    return Ok(Some(Exit::Done(self.machine.heap.nil())));
                }
                Returning::Enters(arguments, from_code) => {
                    self.enter_function(arguments, from_code)?
                }
                Returning::Value | Returning::Begins => match self.callers.pop() {
                    None => {
                        self.returning = Returning::Nothing;
                        Some(Exit::Done(self.machine.top()))
                    }
                    Some(Caller::BuiltIn) => self.back_to_built_in()?,
                    Some(Caller::Code {
                        back,
                        slots,
                        frames,
                        terms,
                    }) => {
                        self.back_to_code((back, slots), frames, terms);
                        None
                    }
                },
            };
            if exit.is_some() {
                return Ok(exit);
            }
            self.machine.meter.advanced();
        }
    }

    /// Passes the value on the stack to the code that waits for it.
    fn back_to_code(&mut self, (back, slots): (Pc, u32), frames: Vec<Frame<()>>, terms: u32) {
        if !frames.is_empty() {
            let value = self.machine.pop();
            let terms = self.take(terms);
            match thaw(frames, &*self.machine.heap, &mut terms.into_iter()) {
                Some(frames) => self.frames = frames,
                None => self.is_broken = true,
            }
            self.machine.push(value);
        }
        let machine = &mut self.machine;
        machine.slots.leave(slots, &*machine.context.heap);
        (self.pc, self.returning) = (back, Returning::Nothing);
    }

    /// Passes the value on the stack to a built-in, which may call the next function.
    fn back_to_built_in(&mut self) -> CalledOf<H, L> {
        let begins = self.returning == Returning::Begins;
        let value = (!begins).then(|| self.machine.pop());
        let popped = built_ins::pop::<L, H>(&mut self.built_ins, &*self.machine.heap);
        let Some(mut work) = popped else {
            self.is_broken = true;
            return Ok(Some(Exit::Done(self.machine.heap.nil())));
        };
        let counted = self.machine.consume_fuel(1).map_err(HaltOf::<H, L>::from);
        let next = counted.and_then(|()| L::call_back(&mut self.machine, &mut work, value));
        match next {
            Ok(Next::Done(value)) => {
                self.machine.push(value);
                self.returning = Returning::Value;
                Ok(None)
            }
            Ok(Next::Call(function, arguments)) => {
                self.push_built_in(work);
                self.machine.insert_below(arguments as usize, function);
                self.returning = Returning::Enters(arguments, false);
                Ok(None)
            }
            Ok(Next::Fork { name, calls }) => {
                self.push_built_in(work);
                self.returning = Returning::Forks;
                let (list, tools) = (calls, self.machine.heap.make_list(&[]));
                Ok(Some(Exit::Fork { name, list, tools }))
            }
            Err(halt) => {
                self.push_built_in(work);
                value.into_iter().for_each(|value| self.machine.push(value));
                Err(halt)
            }
        }
    }

    /// Enters the function value below so many arguments on the stack, which code calls, or else a built-in.
    fn enter_function(&mut self, mut arguments: u32, from_code: bool) -> CalledOf<H, L> {
        let (function, entered) = loop {
            let function = self.machine.top_values(arguments as usize + 1)[0];
            match L::enter(&mut self.machine, function, arguments)? {
                Entered::Instead(others) => {
                    // From now on the function is another one than the caller has called.
                    arguments = others;
                    self.returning = Returning::Enters(others, from_code);
                    self.machine.meter.advanced();
                }
                entered => break (function, entered),
            }
        };
        let exit = match entered {
            Entered::Instead(_) => None,
            Entered::Code {
                entry,
                arguments,
                slots,
            } => {
                let machine = &mut self.machine;
                let nil = machine.context.heap.nil();
                let count = arguments as usize;
                let given = machine.stack.top(count, &*machine.context.heap);
                let callers = machine.slots.enter(given, function, slots as usize, nil);
                machine.drop_top(count + 1);
                // A built-in has no slots, and its caller has left its own before.
                if from_code {
                    self.leave_code(callers)?;
                }
                (self.pc, self.returning) = (entry, Returning::Nothing);
                return Ok(None);
            }
            Entered::BuiltIn(work) => {
                self.machine.drop_top(arguments as usize + 1);
                if from_code {
                    let callers = self.machine.slots.leave_for_none();
                    self.leave_code(callers)?;
                }
                self.push_built_in(work);
                self.returning = Returning::Begins;
                return Ok(None);
            }
            Entered::Value(value) => {
                self.machine.drop_top(arguments as usize + 1);
                self.machine.push(value);
                None
            }
            Entered::Tool { tool, args } => {
                self.machine.drop_top(arguments as usize + 1);
                Some(Exit::Call { tool, args })
            }
            Entered::Ask { what, about } => {
                self.machine.drop_top(arguments as usize + 1);
                Some(Exit::Ask { what, about })
            }
        };
        self.returning = match from_code {
            true => {
                self.pc += 1;
                Returning::Nothing
            }
            false => Returning::Value,
        };
        Ok(exit)
    }

    /// Remembers where the code goes on that calls something; it has so many slots. The terms of its open loops move onto the
    /// stack.
    fn leave_code(&mut self, slots: u32) -> Result<(), Stop> {
        let mut terms = Vec::new();
        let frames = match self.frames.is_empty() {
            true => Vec::new(),
            false => {
                let frames = std::mem::take(&mut self.frames);
                freeze(frames, self.machine.heap, &mut terms)
            }
        };
        let caller = Caller::Code {
            back: self.pc + 1,
            slots,
            frames,
            terms: terms.len() as u32,
        };
        self.callers.push(caller);
        terms.into_iter().for_each(|term| self.machine.push(term));
        match self.callers.len() % CHECKED {
            0 => self.check_callers(),
            _ => Ok(()),
        }
    }

    /// Checks the heap limit with the words of all activations.
    #[cold]
    fn check_callers(&mut self) -> Result<(), Stop> {
        let words = WORDS_OF_CALLER * self.callers.len()
            + self.machine.stack.words()
            + self.machine.slots.words()
            + self.built_ins.words();
        self.machine.check_heap_limit(words)
    }

    fn push_built_in(&mut self, work: L::Work<H::Term>) {
        self.callers.push(Caller::BuiltIn);
        built_ins::push::<L, H>(&mut self.built_ins, work, self.machine.context.heap);
    }

    /// Takes the last values off the stack.
    fn take(&mut self, count: u32) -> Vec<H::Term> {
        let values = self.machine.top_values(count as usize).to_vec();
        self.machine.drop_top(count as usize);
        values
    }
}
