//! Runs whose tools answer JSON texts that are not decoded.

use super::lazy::Texts;
use super::rng::Rng;
use super::{ended, generate, reported, suspended, term, End, Lab, LONG};
use ptc_program::compile::Options;
use ptc_run::texts::{Outcome, TextRun};
use ptc_run::{Consts, Data, Ending, Entry, Given, Heaps, Mode, Plain, Runnable, Running, FIRST};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_vm::{Halt, ValueKind};
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

/// Plain heaps.
struct OnPlain;

impl Heaps for OnPlain {
    type On<'a> = PlainHeap;
}

/// A run over terms that waits for an answer: the run, the terms that its caller holds, the tool and its arguments.
type Waiting = (Box<dyn Running<OnPlain>>, Vec<Term>, (Term, Term));

/// The terms of a run, and the value that it has waited for.
type Resumed = (Vec<Term>, Option<(ValueKind, Term)>);

/// Starts a run, and goes on until it ends or calls a tool.
fn started(lab: &mut Lab, meter: &mut dyn FnMut(Limits) -> Meter) -> Result<Waiting, End> {
    let run = Arc::new(lab.program.clone()).run(Plain::new(Some(lab.limits)));
    let mut run: Box<dyn Running<OnPlain>> = run;
    // As beside its tools: the run also waits for the answer that is its value.
    run.plain_mut().mode = Mode::Moved;
    gone_on(lab, run, None, meter)
}

/// Goes on until the run ends or calls a tool.
fn gone_on(
    lab: &mut Lab,
    mut run: Box<dyn Running<OnPlain>>,
    mut resumed: Option<Resumed>,
    meter: &mut dyn FnMut(Limits) -> Meter,
) -> Result<Waiting, End> {
    loop {
        let now = lab.heap.make_string(b"2024-02-29T10:30:00Z");
        let (context, memory) = (lab.context, lab.memory);
        let data = Data {
            context,
            environment: memory,
            now,
        };
        let consts = Consts::Vector(lab.consts.clone());
        let mut given = Given { consts, data };
        let entry = match &resumed {
            None => Entry::Start,
            Some((held, value)) => Entry::Resume {
                terms: &held[FIRST..],
                value: *value,
            },
        };
        let meter = meter(lab.limits);
        let executed = run.execute(&mut lab.heap, &mut given, entry, meter);
        let executed = executed.expect("the terms are its own");
        let waits = match executed.ending {
            Ending::Done(value) => return Err(End::Value(lab.heap.show(value))),
            Ending::Fault(report) => return Err(End::Fault(reported(&lab.heap, *report))),
            Ending::Stop(Stop::SliceOver) => None,
            Ending::Stop(stop) => return Err(ended(&lab.heap, Halt::Stop(stop))),
            Ending::Uncaught(_) => return Err(End::Unreadable(String::new())),
            Ending::Call { tool, args, .. } => Some((tool, args)),
            other => panic!("{other:?}"),
        };
        let held = executed.held.expect("it is suspended");
        match waits {
            Some(call) => return Ok((run, held, call)),
            None => resumed = Some((held, None)),
        }
    }
}

/// How the run ends over what the texts are decoded to.
fn over_terms(lab: &mut Lab, answers: &mut Answers) -> End {
    let mut meter = |limits| Meter::new(limits, Pace::Quantum).with_quantum(LONG);
    let mut next = started(lab, &mut meter);
    loop {
        let (run, held, (tool, args)) = match next {
            Ok(waiting) => waiting,
            Err(end) => return end,
        };
        let text = answers.next(&lab.heap, tool, args).to_owned();
        let value = decoded(&mut lab.heap, &text);
        next = match gone_on(lab, run, Some((held, Some(value))), &mut meter) {
            Err(End::Unreadable(_)) => return End::Unreadable(text),
            next => next,
        };
    }
}

/// How it ends if the texts are read in place from the first answer on; also returns how many of them were.
fn over_texts(
    lab: &mut Lab,
    answers: &mut Answers,
    meter: &mut dyn FnMut(Limits) -> Meter,
) -> (End, usize) {
    let (run, held, (tool, args)) = match started(lab, meter) {
        Ok(waiting) => waiting,
        Err(end) => return (end, 0),
    };
    let run = TextRun::of_run(run, &held, &mut lab.heap);
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
            Ok(Outcome::Fault(fault)) => return (End::Fault(reported(&lab.heap, fault)), in_place),
            Ok(Outcome::Uncaught(_)) => return (End::Unreadable(last), in_place),
            Ok(Outcome::Undecoded) => panic!("no text is in the context"),
            Ok(Outcome::Ask { .. }) => panic!("no program of the language asks"),
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
