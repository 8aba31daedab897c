//! Code that the tests and the fuzz targets share: running programs on plain values, with text as input
//! and output.
//!
//! Not every test uses all of it.
#![allow(dead_code)]

pub mod ahead;
pub mod answered;
pub mod answers;
pub mod built;
pub mod codec;
pub mod cost;
pub mod generate;
pub mod judging;
pub mod lazy;
pub mod model;
pub mod oracle;
pub mod probe;
pub mod repairs;
pub mod rng;
pub mod shared;
pub mod steps;
pub mod types;
pub mod walks;
pub mod whole;

use ptc_json::{Document, Extent, JsonError, JsonLimits, ReadError, Reader, Table, TermBuilder};
use ptc_program::code::Halt;
use ptc_program::code::State;
use ptc_program::code::{Program, Vm};
use ptc_program::compile::{compile, Compiled, Failure, Options, INPUT_NAME};
use ptc_program::edition::Edition;
use ptc_program::fault::{Code, Fault};
use ptc_program::load::{LoadOptions, Loader, Refusal};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::named::Named;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, Rooted};
use ptc_term::workspace::{unlimited, Workspace};
use ptc_vm::{Exit, Inputs, Name, Report};
use std::borrow::Cow;
use std::time::Duration;

/// How many random cases a test tries: `PTC_ROUNDS`, or else `few`, `PTC_CASES` times.
pub fn rounds(few: usize) -> usize {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    number("PTC_ROUNDS").unwrap_or_else(|| few * number("PTC_CASES").unwrap_or(1))
}

/// Limits that no test reaches by accident.
pub const FREE: Limits = Limits {
    deadline: Deadline::Never,
    words: usize::MAX,
};

/// A quantum that no test reaches the end of.
pub const LONG: Duration = Duration::from_secs(3_600);

/// Suspends work and resumes it.
pub fn suspended<S, R>(state: S, heap: &mut PlainHeap) -> S
where
    S: Rooted<Term = Term, With<()> = R>,
    R: Rooted<Term = (), With<Term> = S>,
{
    let mut terms = Vec::new();
    let frozen = freeze(state, heap, &mut terms);
    let mut terms = terms.into_iter();
    let state = thaw(frozen, heap, &mut terms).expect("these are its terms");
    assert_eq!(terms.next(), None);
    state
}

/// A depth limit that no test reaches.
pub const DEEP: JsonLimits = JsonLimits::depth(1_000_000);

/// Suspends and resumes work; returns also the number of terms that it had.
pub fn resumed<R>(state: R, heap: &mut PlainHeap) -> (R, usize)
where
    R: Rooted<Term = Term>,
    R::With<()>: Rooted<Term = (), With<Term> = R>,
{
    let mut terms = Vec::new();
    let frozen = freeze(state, heap, &mut terms);
    let count = terms.len();
    let mut terms = terms.into_iter();
    let state = thaw(frozen, heap, &mut terms).expect("its terms");
    assert!(terms.next().is_none());
    (state, count)
}

/// An error of a program, with its terms as text.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    pub code: Code,
    pub name: Option<Name>,
    pub field: Option<&'static str>,
    pub terms: Vec<String>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    Value(String),
    /// In the run.
    Fault(Mistake),
    /// Before the run.
    Rejected(Mistake),
    /// The text is not a program.
    Unreadable(String),
    DeadlinePassed,
    MemoryExceeded,
    Abandoned,
}

/// A compiled program and the terms it runs over.
pub struct Lab {
    pub heap: PlainHeap,
    pub context: Term,
    pub memory: Term,
    pub limits: Limits,
    pub program: Program,
    pub consts: Vec<Term>,
    /// The tool calls so far: names and arguments.
    pub calls: Vec<String>,
    /// Number of tool calls so far.
    called: i64,
    /// Number of times that a run was resumed.
    pub executions: usize,
    /// The fuel consumed by all runs.
    fuel: usize,
}

/// A suspended run and its terms.
pub struct Suspended(State<()>, Vec<Term>);

impl Suspended {
    pub fn new(state: State<Term>, heap: &mut PlainHeap) -> Self {
        let mut terms = Vec::new();
        Suspended(freeze(state, heap, &mut terms), terms)
    }

    pub fn resume(self, heap: &PlainHeap) -> State<Term> {
        let mut terms = self.1.into_iter();
        let state = thaw(self.0, heap, &mut terms).expect("all terms are there");
        assert!(terms.next().is_none(), "each term has its place");
        state
    }
}

/// Options with checks of every given part.
pub const STRICT: Options = Options {
    checked: true,
    depth: 1_000_000,
    edition: Edition::Two,
    strict: false,
    any_keys: false,
    values: false,
};

/// Options for the language of the reference.
pub const EDITION_1: Options = Options {
    edition: Edition::One,
    ..STRICT
};

/// Options where an error counts only when it is reached.
pub const UNCHECKED: Options = Options {
    checked: false,
    ..STRICT
};

/// Options for a program that is not observed.
pub fn load_options(options: Options) -> LoadOptions {
    LoadOptions {
        options,
        observed: None,
    }
}

/// A JSON text as a term.
pub fn term(heap: &mut PlainHeap, json: &str) -> Result<Term, JsonError> {
    let mut meter = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
    match Reader::new(0, Extent::Whole, DEEP).read(json.as_bytes(), &mut builder) {
        Ok(_) => Ok(builder.finish()),
        Err(ReadError::Json(error)) => Err(error),
        Err(ReadError::Stop(stop)) => panic!("{stop:?}"),
    }
}

impl Lab {
    /// A program as JSON text.
    pub fn of_text(mut heap: PlainHeap, program: &[u8], options: Options) -> Result<Lab, End> {
        let mut table = Table::parse(program, DEEP).expect("the program is JSON");
        let compiled = compile(program, &mut table, 0, options);
        let document = Document::new(program, &table);
        match compiled {
            Ok(Compiled { program, consts }) => {
                let consts = consts.iter().map(|node| document.build(*node, &mut heap));
                let consts = consts.collect();
                Ok(Lab::new(heap, program, consts))
            }
            Err(Failure::Stopped(stop)) => panic!("nothing stops it: {stop:?}"),
            Err(Failure::Rejected(fault)) => {
                let fault = fault.map(|node| document.build(node, &mut heap));
                Err(End::Rejected(mistake(&heap, fault)))
            }
        }
    }

    /// A program as terms.
    pub fn of_term(heap: PlainHeap, program: Term, options: Options) -> Result<Lab, End> {
        let loader = Loader::of_term(program, load_options(options));
        Lab::load(heap, loader, b"", &mut unlimited)
    }

    /// Loads a program with one meter after another.
    pub fn load(
        mut heap: PlainHeap,
        mut loader: Loader<Term>,
        text: &[u8],
        meter: &mut dyn FnMut() -> Meter,
    ) -> Result<Lab, End> {
        loop {
            match loader.step(text, &mut heap, &mut meter()) {
                Ok(Ok(())) => break,
                Ok(Err(Refusal::Rejected(fault, _))) => {
                    return Err(End::Rejected(mistake(&heap, fault)))
                }
                Ok(Err(other)) => return Err(End::Unreadable(format!("{other:?}"))),
                Err(Stop::SliceOver) => loader = suspended(loader, &mut heap),
                Err(Stop::MemoryExceeded) => return Err(End::MemoryExceeded),
                Err(Stop::DeadlinePassed) => return Err(End::DeadlinePassed),
                Err(Stop::Abandoned) => return Err(End::Abandoned),
            }
        }
        let loaded = loader.finish(&heap).expect("it is loaded");
        let (program, consts) = (loaded.program, loaded.consts);
        Ok(Lab::new(heap, (*program).clone(), consts))
    }

    fn new(mut heap: PlainHeap, program: Program, consts: Vec<Term>) -> Lab {
        let nothing = heap.make_map(&[], &[]);
        Lab {
            heap,
            context: nothing,
            memory: nothing,
            limits: FREE,
            program,
            consts,
            calls: Vec::new(),
            called: 0,
            executions: 0,
            fuel: 0,
        }
    }

    /// This lab with JSON texts as context and memory.
    pub fn given(mut self, context: &str, memory: &str) -> Lab {
        self.context = term(&mut self.heap, context).expect("the context is JSON");
        self.memory = term(&mut self.heap, memory).expect("the memory is JSON");
        self
    }

    /// This lab with a term of its heap as context.
    pub fn over(mut self, context: Term) -> Lab {
        self.context = context;
        self
    }

    /// Runs without suspending the machine, except for tools.
    pub fn in_one_go(&mut self) -> End {
        self.shown(|limits| Meter::new(limits, Pace::Quantum))
    }

    /// Runs in executions of `units` units of work, each frozen at its end.
    pub fn in_executions(&mut self, mut units: impl FnMut() -> usize) -> End {
        self.shown(move |limits| Meter::with_fuel(limits, units()))
    }

    /// Runs in slices of `units` units, each followed by a quantum of one unit: only a quantum
    /// completes a step that loses its progress.
    pub fn in_slices(&mut self, units: usize) -> End {
        let mut paces = [(Pace::Slice, units), (Pace::Quantum, 1)]
            .into_iter()
            .cycle();
        self.shown(move |limits| {
            let (pace, units) = paces.next().expect("a cycle");
            Meter::with_fuel_at(pace, limits, units)
        })
    }

    /// Runs with a probe of `units` units, and then to the end: how the library starts a run with its
    /// default limits.
    pub fn after_a_probe(&mut self, units: usize) -> End {
        let limits = self.limits;
        let mut probe = Some(Meter::with_fuel_at(Pace::Probe, Limits::PROBE, units));
        self.shown(move |_| {
            let next = || Meter::new(limits, Pace::Quantum).with_quantum(LONG);
            probe.take().unwrap_or_else(next)
        })
    }

    /// Runs to the end, and shows the result and the tool calls.
    fn shown(&mut self, meter: impl FnMut(Limits) -> Meter) -> End {
        let mut calls = Vec::new();
        let tool = |heap: &PlainHeap, tool, args| {
            calls.push(format!("{} {}", heap.show(tool), heap.show(args)));
        };
        let end = match self.run(meter, tool) {
            Ok(value) => End::Value(self.heap.show(value)),
            Err(halt) => ended(&self.heap, halt),
        };
        self.calls.extend(calls);
        end
    }

    /// Runs to the end without showing anything; returns the fuel consumed.
    pub fn cost(&mut self) -> usize {
        let before = self.fuel;
        let long = |limits| Meter::new(limits, Pace::Quantum).with_quantum(LONG);
        let _ = self.run(long, |_, _, _| ());
        self.fuel - before
    }

    /// Runs to the end. `meter`: the meter of the next execution; `called`: sees each tool call.
    fn run(
        &mut self,
        mut meter: impl FnMut(Limits) -> Meter,
        mut called: impl FnMut(&PlainHeap, Term, Term),
    ) -> Result<Term, Halt<Term>> {
        let (program, heap) = (&self.program, &mut self.heap);
        let input = Vm::input_of(program, heap, self.memory, INPUT_NAME.as_bytes());
        let now = |heap: &mut PlainHeap| heap.make_string(b"2024-02-29T10:30:00Z");
        let mut state = State::start(program, heap, input, now);
        let mut answer: Option<Term> = None;
        let mut limits = self.limits;
        loop {
            let inputs = Inputs {
                consts: &self.consts,
                context: self.context,
                environment: self.memory,
            };
            let meter = meter(limits);
            let is_probe = meter.pace() == Pace::Probe;
            let (program, heap) = (&self.program, &mut self.heap);
            let mut vm = Vm::new(program, heap, inputs, state, meter);
            let exit = match answer.take() {
                Some(answer) => vm.resume(answer),
                None => vm.run(),
            };
            assert!(!vm.is_broken(), "the stack is the one it was left with");
            limits = vm.limits();
            self.executions += 1;
            assert!(self.executions < 10_000_000, "the run does not end");
            self.fuel += vm.fuel_consumed();
            let left = vm.into_state();
            match exit {
                Exit::Done(value) => return Ok(value),
                Exit::Call { tool, args } => {
                    called(&self.heap, tool, args);
                    answer = Some(self.answer(tool, args));
                }
                Exit::Halted(Halt::Stop(Stop::SliceOver)) => {}
                Exit::Halted(Halt::Stop(Stop::MemoryExceeded)) if is_probe => {}
                Exit::Fork { .. } | Exit::Ask { .. } => unreachable!("no run here forks"),
                Exit::Halted(halt) => return Err(halt),
            }
            state = Suspended::new(left, &mut self.heap).resume(&self.heap);
        }
    }

    /// `echo` returns its arguments, `count` the number of calls so far, every other tool its name and
    /// arguments.
    fn answer(&mut self, tool: Term, args: Term) -> Term {
        self.called += 1;
        match self.heap.bytes(tool) {
            Some(b"echo") => args,
            Some(b"count") => {
                let count = Number::Int(self.called);
                self.heap.make_number(count).expect("an integer")
            }
            _ => self.heap.tuple(&[tool, args]),
        }
    }
}

fn mistake(heap: &PlainHeap, fault: Fault<Term>) -> Mistake {
    Mistake {
        code: fault.code,
        name: fault.name,
        field: fault.field,
        terms: heap.show_all(&fault.terms),
    }
}

/// Reads an error whose language is hidden.
fn reported(heap: &PlainHeap, report: Report<Term>) -> Mistake {
    let text = |cow| match cow {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => panic!("{text} is none of the language's own texts"),
    };
    let code = Code::ALL.iter().find(|code| code.name() == report.code);
    Mistake {
        code: *code.expect("a code of the language"),
        name: report.name.map(text),
        field: report.field.map(text),
        terms: heap.show_all(&report.terms),
    }
}

fn ended(heap: &PlainHeap, halt: Halt<Term>) -> End {
    match halt {
        Halt::Fault(fault) => End::Fault(mistake(heap, *fault)),
        Halt::Stop(Stop::DeadlinePassed) => End::DeadlinePassed,
        Halt::Stop(Stop::MemoryExceeded) => End::MemoryExceeded,
        Halt::Stop(Stop::Abandoned) => End::Abandoned,
        Halt::Stop(Stop::SliceOver) => panic!("a slice that nobody asked for"),
    }
}

/// Runs a JSON program over a JSON context.
pub fn run(program: &str, context: &str, memory: &str) -> End {
    run_in(EDITION_1, program, context, memory)
}

/// Runs a JSON program over a JSON context, with these options.
pub fn run_in(options: Options, program: &str, context: &str, memory: &str) -> End {
    match Lab::of_text(PlainHeap::new(), program.as_bytes(), options) {
        Ok(lab) => lab.given(context, memory).in_one_go(),
        Err(end) => end,
    }
}

/// Runs a JSON program over a JSON context, without the check.
pub fn run_unchecked(program: &str, context: &str) -> End {
    match Lab::of_text(PlainHeap::new(), program.as_bytes(), UNCHECKED) {
        Ok(lab) => lab.given(context, "{}").in_one_go(),
        Err(end) => end,
    }
}

/// Steps over the items of the context.
pub fn over(steps: &str) -> String {
    format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},{steps}]}}"#)
}

/// A context with items.
pub const ROWS: &str = r#"{"items":[{"n":2,"s":"b"},{"n":1,"s":"a"},{"n":2.0,"s":"c"},{"s":"d"}]}"#;

/// Edition 1: `runs!(program, context, memory => value)`: all are JSON except the value, which is in the form of
/// [`PlainHeap::show`]; context and memory are optional.
#[macro_export]
macro_rules! runs {
    ($program:expr => $value:expr) => {
        runs!($program, "{}", "{}" => $value)
    };
    ($program:expr, $context:expr => $value:expr) => {
        runs!($program, $context, "{}" => $value)
    };
    ($program:expr, $context:expr, $memory:expr => $value:expr) => {
        assert_eq!(
            $crate::common::run($program, $context, $memory),
            $crate::common::End::Value($value.to_string()),
            "{}",
            $program
        )
    };
}

/// `fails!(program, context => code, terms…)`: in the run.
#[macro_export]
macro_rules! fails {
    ($program:expr => $code:ident $(, $term:expr)*) => {
        fails!($program, "{}" => $code $(, $term)*)
    };
    ($program:expr, $context:expr => $code:ident $(, $term:expr)*) => {
        match $crate::common::run($program, $context, "{}") {
            $crate::common::End::Fault(mistake) => {
                assert_eq!(mistake.code, ptc_program::fault::Code::$code, "{}", $program);
                let terms: &[&str] = &[$($term),*];
                assert_eq!(mistake.terms, terms, "{}", $program);
            }
            end => panic!("{}: {end:?}", $program),
        }
    };
}

/// `rejects!(program => code, field, terms…)`: before the run.
#[macro_export]
macro_rules! rejects {
    ($program:expr => $code:ident, $field:expr $(, $term:expr)*) => {
        match $crate::common::run($program, "{}", "{}") {
            $crate::common::End::Rejected(mistake) => {
                assert_eq!(mistake.code, ptc_program::fault::Code::$code, "{}", $program);
                assert_eq!(mistake.field.unwrap_or(""), $field, "{}", $program);
                let terms: &[&str] = &[$($term),*];
                assert_eq!(mistake.terms, terms, "{}", $program);
            }
            end => panic!("{}: {end:?}", $program),
        }
    };
}
