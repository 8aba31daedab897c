//! A language of a few instructions, for tests of the machine: numbers, functions, a built-in that calls back, tools.
//!
//! A function is a tuple of its address, the number of its slots, and what it has captured. A negative number is a function of
//! the language itself.

use ptc_kernels::{Reading, Tally, Why};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, Exchange, Rooted};
use ptc_vm::language::{Contained, Flow};
use ptc_vm::live::LiveAfterCalls;
use ptc_vm::program::{Apply, ConstId, Instr, Loop, Pc, Program, Slot};
use ptc_vm::{
    Entered, Eval, Execute, Exit, Frame, Halt, HaltOf, Inputs, Language, Machine, Name, Next,
    Report, State, Step, Stepped, Vm,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toy;

/// No operation with a body: all is done by instructions of its own and by functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoOp;

impl From<NoOp> for Name {
    fn from(_: NoOp) -> Name {
        "none"
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// Adds two numbers.
    Add,
    /// Makes a function of this address, with so many slots, that captures the value on the stack.
    Function(Pc, u32),
    /// Pushes what the function in a slot has captured.
    Captured(Slot),
    /// Pushes whether the number in a slot is zero.
    IsZero(Slot),
}

/// `map`, as a function value.
pub const MAP: i64 = -1;
/// The tool "t".
pub const TOOL: i64 = -2;
/// A question.
pub const QUESTION: i64 = -3;

/// `map` that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping<T> {
    function: T,
    rest: T,
    made: Roots<T>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mistake<T> {
    /// A name of the program, not one of the language.
    pub name: String,
    pub terms: Vec<T>,
}

impl Language for Toy {
    const INPUT: &'static str = "start";
    type Op = NoOp;
    type Own = Own;
    type Failure = ();
    type Cache<T> = ();
    type Work<T> = Mapping<T>;
    type Fault<T> = Mistake<T>;

    fn exchange_work<T, X: Exchange<T>>(
        work: Mapping<T>,
        by: &mut X,
    ) -> Result<Mapping<X::Into>, X::Lost> {
        Ok(Mapping {
            function: by.term(work.function)?,
            rest: by.term(work.rest)?,
            made: work.made.exchange(by)?,
        })
    }

    fn exchange_fault<T, X: Exchange<T>>(
        fault: Mistake<T>,
        by: &mut X,
    ) -> Result<Mistake<X::Into>, X::Lost> {
        Ok(Mistake {
            name: fault.name,
            terms: by.all(fault.terms)?,
        })
    }

    fn report<T>(fault: Mistake<T>) -> Report<T> {
        Report {
            code: "mistake",
            name: Some(fault.name.into()),
            field: None,
            terms: fault.terms,
            expensive_to_inspect: false,
            inside: None,
            at: Vec::new(),
        }
    }

    fn terms<T>(fault: &Mistake<T>) -> &[T] {
        &fault.terms
    }

    fn limit_inspection<T>(_fault: &mut Mistake<T>) {}

    fn wrong<T>(_op: NoOp, _why: Why, terms: Vec<T>) -> Mistake<T> {
        Mistake {
            name: "list".to_string(),
            terms,
        }
    }

    fn flow(own: &Own) -> Flow {
        let (reads, depth) = match own {
            Own::Add => (0, (2, 1)),
            Own::Function(..) => (0, (1, 1)),
            Own::Captured(slot) | Own::IsZero(slot) => (*slot, (0, 1)),
        };
        Flow {
            reads,
            next: None,
            branch: None,
            depth,
        }
    }

    fn reads_input(_op: NoOp) -> bool {
        false
    }

    fn keeps_item(_op: NoOp) -> bool {
        false
    }
}

fn number<H: Heap>(heap: &mut H, number: i64) -> H::Term {
    heap.make_number(Number::Int(number)).expect("short")
}

impl Execute for Toy {
    fn eval<H: Heap>(machine: &mut Machine<'_, H, Toy>, _apply: &Apply<Toy>) -> Eval<H, Toy> {
        Ok(machine.heap.nil())
    }

    fn expect<H: Heap>(
        _machine: &mut Machine<'_, H, Toy>,
        _op: NoOp,
        _input: Slot,
    ) -> Result<(), HaltOf<H, Toy>> {
        Ok(())
    }

    fn tally(_op: NoOp) -> Option<Tally> {
        None
    }

    fn step<H: Heap>(
        machine: &mut Machine<'_, H, Toy>,
        _looped: &Loop<Toy>,
        _frame: &mut Frame<H::Term>,
        _returned: Option<H::Term>,
    ) -> Stepped<H, Toy> {
        Ok(Step::Done(machine.heap.nil()))
    }

    fn constants_in(_apply: &Apply<Toy>) -> Contained {
        Contained::Nothing
    }

    fn forks(_op: NoOp) -> bool {
        false
    }

    fn execute<H: Heap>(vm: &mut Vm<'_, H, Toy>, own: &Own) -> Result<Pc, HaltOf<H, Toy>> {
        let next = vm.pc() + 1;
        let machine = vm.parts().0;
        let value = match own {
            Own::Add => {
                let &[left, right] = machine.top_values(2) else {
                    return Ok(next);
                };
                let sum = |machine: &Machine<'_, H, Toy>| {
                    Some(machine.heap.small_integer(left)? + machine.heap.small_integer(right)?)
                };
                let Some(sum) = sum(machine) else {
                    return Err(Halt::fault(Mistake {
                        name: "plus".to_string(),
                        terms: vec![left, right],
                    }));
                };
                machine.drop_top(2);
                number(machine.heap, sum)
            }
            Own::Function(entry, slots) => {
                let captured = machine.pop();
                let entry = number(machine.heap, i64::from(*entry));
                let slots = number(machine.heap, i64::from(*slots));
                machine.heap.make_tuple(&[entry, slots, captured])
            }
            Own::Captured(slot) => {
                let function = machine.slot(*slot);
                machine.heap.element(function, 2).expect("a function")
            }
            Own::IsZero(slot) => {
                let value = machine.slot(*slot);
                machine
                    .heap
                    .boolean(machine.heap.small_integer(value) == Some(0))
            }
        };
        machine.push(value);
        Ok(next)
    }

    fn missing<H: Heap>(
        &self,
        machine: &mut Machine<'_, H, Toy>,
        _context: H::Term,
        _key: ConstId,
    ) -> Eval<H, Toy> {
        Ok(machine.heap.nil())
    }

    fn fail<H: Heap>(_machine: &mut Machine<'_, H, Toy>, _failure: &()) -> Mistake<H::Term> {
        Mistake {
            name: "fail".to_string(),
            terms: Vec::new(),
        }
    }

    fn enter<H: Heap>(
        machine: &mut Machine<'_, H, Toy>,
        function: H::Term,
        arguments: u32,
    ) -> Result<Entered<Toy, H::Term>, HaltOf<H, Toy>> {
        machine.consume_fuel(1)?;
        let given = machine.top_values(arguments as usize).to_vec();
        match (machine.heap.small_integer(function), &*given) {
            (Some(MAP), [function, list]) => Ok(Entered::BuiltIn(Mapping {
                function: *function,
                rest: *list,
                made: Roots::default(),
            })),
            (Some(TOOL), [args]) => {
                let tool = machine.heap.make_string(b"t");
                Ok(Entered::Tool { tool, args: *args })
            }
            (Some(QUESTION), [about]) => Ok(Entered::Ask {
                what: 7,
                about: *about,
            }),
            _ => {
                let heap = &*machine.heap;
                let part = |index| {
                    heap.element(function, index)
                        .and_then(|it| heap.small_integer(it))
                };
                let (Some(entry), Some(slots)) = (part(0), part(1)) else {
                    return Err(Halt::fault(Mistake {
                        name: "call".to_string(),
                        terms: vec![function],
                    }));
                };
                Ok(Entered::Code {
                    entry: entry as Pc,
                    arguments,
                    slots: slots as u32,
                })
            }
        }
    }

    fn call_back<H: Heap>(
        machine: &mut Machine<'_, H, Toy>,
        work: &mut Mapping<H::Term>,
        returned: Option<H::Term>,
    ) -> Result<Next<H::Term>, HaltOf<H, Toy>> {
        machine.consume_fuel(1)?;
        work.made.extend(returned);
        match machine.heap.uncons(work.rest) {
            None => Ok(Next::Done(work.made.list(machine.heap))),
            Some((item, rest)) => {
                work.rest = rest;
                machine.push(item);
                Ok(Next::Call(work.function, 1))
            }
        }
    }
}

/// A program with constants.
pub fn program(code: Vec<Instr<Toy>>, slots: u32) -> Program<Toy> {
    Program {
        branches: Vec::new(),
        live: LiveAfterCalls::of(&code),
        code,
        patterns: vec![],
        slots,
        globals: 0,
        reads_input: false,
        now: None,
        multiplies: false,
        calls_tools: true,
        reading: Reading::default(),
        language: Toy,
        sites: Vec::new(),
        detail: Default::default(),
    }
}

/// How a run has ended, the calls of tools, the questions, and how often it was suspended.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub end: Result<String, String>,
    pub calls: Vec<String>,
    pub suspensions: usize,
}

/// Runs a program, in executions of so many units. A tool answers what it is given plus one, and so does a question.
pub fn run(program: &Program<Toy>, consts: &[i64], units: usize, limits: Limits) -> Ended {
    let mut heap = PlainHeap::default();
    let mut consts: Vec<Term> = consts.iter().map(|it| number(&mut heap, *it)).collect();
    let numbers: Vec<Term> = (1..=3).map(|it| number(&mut heap, it)).collect();
    consts.push(heap.make_list(&numbers));
    let (mut calls, mut suspensions, mut answer) = (Vec::new(), 0, None);
    let mut state = State::<Toy, _>::start(program, &mut heap, None, |heap| heap.nil());
    loop {
        let nil = heap.nil();
        let inputs = Inputs {
            consts: &consts,
            context: nil,
            environment: nil,
        };
        // A slice makes no progress at all if a step is too long for it, so every second execution is a quantum.
        let pace = match suspensions % 2 {
            0 => Pace::Slice,
            _ => Pace::Quantum,
        };
        let meter = Meter::with_fuel_at(pace, limits, units);
        let mut vm = Vm::new(program, &mut heap, inputs, state, meter);
        let exit = match answer.take() {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        assert!(!vm.is_broken());
        let left = vm.into_state();
        let given = |heap: &mut PlainHeap, about: Term| {
            let value = heap
                .small_integer(about)
                .map_or(nil, |it| number(heap, it + 1));
            Some(value)
        };
        let end = match exit {
            Exit::Done(value) => Some(Ok(heap.show(value))),
            Exit::Call { args, .. } => {
                calls.push(heap.show(args));
                answer = given(&mut heap, args);
                None
            }
            Exit::Ask { what, about } => {
                calls.push(format!("{what}? {}", heap.show(about)));
                answer = given(&mut heap, about);
                None
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => {
                suspensions += 1;
                None
            }
            Exit::Halted(Halt::Stop(stop)) => Some(Err(format!("{stop:?}"))),
            Exit::Halted(Halt::Fault(fault)) => Some(Err(fault.name)),
            Exit::Fork { .. } => Some(Err("fork".to_string())),
        };
        if let Some(end) = end {
            return Ended {
                end,
                calls,
                suspensions,
            };
        }
        // Only the plain data and the terms survive.
        let mut terms = Vec::new();
        let frozen = freeze(left, &mut heap, &mut terms);
        let mut terms = terms.into_iter();
        state = thaw(frozen, &heap, &mut terms).expect("its terms");
        assert_eq!(terms.next(), None);
    }
}
