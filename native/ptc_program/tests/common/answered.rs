//! Runs whose tools answer JSON texts that are not decoded.

use super::lazy::Texts;
use super::rng::Rng;
use super::{ended, generate, mistake, suspended, term, End, Lab, LONG};
use ptc_program::code::State;
use ptc_program::code::Vm;
use ptc_program::compile::{Options, INPUT_NAME};
use ptc_program::over_texts::{Data, Outcome, TextRun};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_vm::Halt;
use ptc_vm::{Exit, Inputs, ValueKind};
use std::mem::take;
use std::sync::Arc;

/// What tools answer, one call after another.
pub struct Answers {
    texts: Vec<String>,
    /// The calls so far: names and arguments.
    calls: Vec<String>,
    /// Maximum number of texts that a run has held.
    held: usize,
}

impl Answers {
    /// Texts of lists and of other values; some are no JSON.
    pub fn new(rng: &mut Rng) -> Self {
        let texts = (0..1 + rng.below(4)).map(|_| {
            let items: Vec<_> = (0..rng.below(6)).map(|_| generate::item(rng)).collect();
            match rng.below(8) {
                0 => format!("[{}", items.join(",")),
                1 => generate::json(rng, 3),
                _ => format!(" [{}]\n", items.join(" , ")),
            }
        });
        let texts = texts.collect();
        Answers {
            texts,
            calls: Vec::new(),
            held: 0,
        }
    }

    fn next(&mut self, heap: &PlainHeap, tool: Term, args: Term) -> &str {
        let call = format!("{} {}", heap.show(tool), heap.show(args));
        self.calls.push(call);
        &self.texts[(self.calls.len() - 1) % self.texts.len()]
    }
}

/// What a text is decoded to, or the error of the tool.
fn decoded(heap: &mut PlainHeap, text: &str) -> (ValueKind, Term) {
    match term(heap, text) {
        Ok(value) => (ValueKind::Answer, value),
        Err(error) => {
            let error = format!("{error:?}");
            (ValueKind::Failed, heap.make_string(error.as_bytes()))
        }
    }
}

/// A run over terms, which waits for an answer.
struct Waiting {
    state: State<Term>,
    tool: Term,
    args: Term,
}

fn started(lab: &mut Lab) -> State<Term> {
    let (program, heap) = (&lab.program, &mut lab.heap);
    let input = Vm::input_of(program, heap, lab.memory, INPUT_NAME.as_bytes());
    let now = |heap: &mut PlainHeap| heap.make_string(b"2024-02-29T10:30:00Z");
    State::start(program, heap, input, now)
}

/// Goes on until the run ends or calls a tool.
fn gone_on(
    lab: &mut Lab,
    mut state: State<Term>,
    mut answer: Option<Term>,
    meter: &mut dyn FnMut(Limits) -> Meter,
) -> Result<Waiting, End> {
    loop {
        let inputs = Inputs {
            consts: &lab.consts,
            context: lab.context,
            memory: lab.memory,
        };
        let mut vm = Vm::new(
            &lab.program,
            &mut lab.heap,
            inputs,
            state,
            meter(lab.limits),
        );
        let exit = match answer.take() {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        let left = vm.into_state();
        match exit {
            Exit::Done(value) => return Err(End::Value(lab.heap.show(value))),
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => {}
            Exit::Halted(halt) => return Err(ended(&lab.heap, halt)),
            Exit::Fork { .. } | Exit::Ask { .. } => unreachable!("no run here forks"),
            Exit::Call { tool, args } => {
                let state = suspended(left, &mut lab.heap);
                return Ok(Waiting { state, tool, args });
            }
        }
        state = suspended(left, &mut lab.heap);
    }
}

/// How the run ends over what the texts are decoded to.
fn over_terms(lab: &mut Lab, answers: &mut Answers) -> End {
    let mut meter = |limits| Meter::new(limits, Pace::Quantum).with_quantum(LONG);
    let (mut state, mut answer) = (started(lab), None);
    loop {
        let Waiting {
            state: left,
            tool,
            args,
        } = match gone_on(lab, state, answer, &mut meter) {
            Ok(waiting) => waiting,
            Err(end) => return end,
        };
        let text = answers.next(&lab.heap, tool, args).to_owned();
        let (kind, value) = decoded(&mut lab.heap, &text);
        state = match kind.is_failure() {
            false => left,
            true => match left.failed_call(&lab.program) {
                Some(caught) => caught,
                None => return End::Unreadable(text),
            },
        };
        answer = Some(value);
    }
}

/// How it ends if the texts are read in place from the first answer on; also returns how many of them were.
fn over_texts(
    lab: &mut Lab,
    answers: &mut Answers,
    meter: &mut dyn FnMut(Limits) -> Meter,
) -> (End, usize) {
    let state = started(lab);
    let Waiting { state, tool, args } = match gone_on(lab, state, None, meter) {
        Ok(waiting) => waiting,
        Err(end) => return (end, 0),
    };
    let consts = lab.heap.tuple(&lab.consts);
    let nil = lab.heap.nil();
    let data = Data {
        context: lab.context,
        memory: lab.memory,
        now: nil,
    };
    let program = Arc::new(lab.program.clone());
    let run = TextRun::of_state(program, consts, data, state, &mut lab.heap);
    let mut run = run.expect("the marker fits");
    let (mut in_place, mut last) = (0, String::new());
    let mut next = Some((tool, args));
    loop {
        if let Some((tool, args)) = next.take() {
            last = answers.next(&lab.heap, tool, args).to_owned();
            let text = lab.heap.make_string(last.as_bytes());
            let answer = lab.heap.tuple(&[tool, text]);
            run.answered(answer, ValueKind::Text, &mut lab.heap);
            in_place += 1;
        }
        let heap = &lab.heap;
        let texts = heap.elements(run.texts).unwrap_or_default().iter().skip(1);
        let texts = texts.map(|text| heap.bytes(*text).expect("a text").to_vec());
        let texts: Vec<_> = texts.collect();
        answers.held = answers.held.max(texts.len());
        let bytes: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        let (outcome, _, heap) = run.step(&bytes, take(&mut lab.heap), &mut meter(lab.limits));
        lab.heap = heap;
        match outcome {
            Ok(Outcome::Value(value)) => return (End::Value(lab.heap.show(value)), in_place),
            Ok(Outcome::Fault(fault)) => return (End::Fault(mistake(&lab.heap, fault)), in_place),
            Ok(Outcome::Uncaught) => return (End::Unreadable(last), in_place),
            Ok(Outcome::Undecoded) => panic!("no text is in the context"),
            Ok(Outcome::Call { tool, args }) => next = Some((tool, args)),
            Ok(Outcome::Refused { tool, text }) => {
                assert_eq!(lab.heap.bytes(text), Some(last.as_bytes()));
                assert!(lab.heap.bytes(tool).is_some());
                let (kind, value) = decoded(&mut lab.heap, &last);
                run.answered(value, kind, &mut lab.heap);
                in_place -= 1;
            }
            Err(Stop::SliceOver) => {}
            Err(stop) => return (ended(&lab.heap, Halt::Stop(stop)), in_place),
        }
        run = suspended(run, &mut lab.heap);
    }
}

/// A program ends the same way where tools answer texts and where they answer what these are decoded to. Returns how many answers
/// were read in place, and how many texts the run has held
/// that was not suspended.
pub fn same(
    program: &str,
    (context, mut answers): (&Texts, Answers),
    options: Options,
    limits: Limits,
    rng: &mut Rng,
) -> (usize, usize) {
    let lab = || {
        let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), options)?;
        let lab = lab.given(&super::lazy::object(context), "{}");
        Ok::<_, End>(Lab { limits, ..lab })
    };
    let Ok(mut terms) = lab() else {
        return (0, 0);
    };
    let expected = over_terms(&mut terms, &mut answers);
    let calls = take(&mut answers.calls);
    let stops = |end: &End| matches!(end, End::DeadlinePassed | End::MemoryExceeded);
    let (mut in_place, mut held) = (0, 0);
    for suspends in [false, true] {
        let mut least = 1 + rng.below(20);
        let mut meter = |limits| match suspends {
            false => Meter::new(limits, Pace::Quantum).with_quantum(LONG),
            true => {
                // A step that indexes takes more.
                least += usize::from(rng.once_in(8)) * (1 + least / 8);
                Meter::with_fuel(limits, 1 + rng.below(least))
            }
        };
        let mut lab = lab().expect("it was compiled");
        let (end, count) = over_texts(&mut lab, &mut answers, &mut meter);
        let called = take(&mut answers.calls);
        in_place += count;
        if !suspends {
            held = answers.held;
        }
        if !stops(&end) && !stops(&expected) {
            let shown = || format!("{program}\n{:?}\nsuspended: {suspends}", answers.texts);
            assert_eq!(end, expected, "{}", shown());
            assert_eq!(called, calls, "{}", shown());
        }
    }
    (in_place, held)
}
