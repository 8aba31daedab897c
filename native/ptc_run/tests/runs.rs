//! Runs of a language of a few instructions, whose callers know neither it nor its states.

#[path = "../../ptc_vm/tests/toy/mod.rs"]
#[allow(dead_code)]
mod toy;

use ptc_lazy::term::whole;
use ptc_run::texts::{Outcome, TextRun};
use ptc_run::{
    Consts, Data, Ending, Entry, Executed, Given, Heaps, Mode, Plain, Runnable, Running, FIRST,
};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_vm::program::{Branches, Instr, NO_PC};
use ptc_vm::ValueKind;
use std::sync::Arc;
use toy::{program, Own, Toy, MAP, QUESTION, TOOL};

/// Plain heaps.
struct OnPlain;

impl Heaps for OnPlain {
    type On<'a> = PlainHeap;
}

type AnyRun = Box<dyn Running<OnPlain>>;
type Left = Option<(Executed<Term>, Option<AnyRun>)>;

/// Units that no run here uses up.
const MANY: usize = usize::MAX >> 2;

/// What the tools of a run do.
#[derive(Clone, Copy, PartialEq)]
enum Tools {
    /// They answer what they are given plus one.
    Answer,
    /// They fail.
    Fail,
    /// They answer, and the run moves to their process when it may.
    Move,
}

/// A program with its data, and how it is run.
struct Lab {
    heap: PlainHeap,
    program: Arc<dyn Runnable<OnPlain>>,
    consts: Vec<Term>,
    context: Term,
    /// Units of each execution.
    units: usize,
    tools: Tools,
    calls: Vec<String>,
    suspensions: usize,
    /// The calls at which the run was weighed.
    weighed: Vec<usize>,
    /// Whether the run goes through its branches itself.
    in_turn: bool,
    /// Which branch has made each call, if they run in turn.
    turns: Vec<Option<u32>>,
}

/// The constants of each program: three numbers, the name "items", a list.
const NUMBERS: usize = 3;
const ITEMS: u32 = 3;
const LIST: u32 = 4;

impl Lab {
    fn new(code: Vec<Instr<Toy>>, branches: Vec<Branches>, numbers: [i64; NUMBERS]) -> Self {
        let mut heap = PlainHeap::default();
        let mut compiled = program(code, 4);
        compiled.branches = branches;
        let mut consts = numbers.map(|it| number(&mut heap, it)).to_vec();
        consts.push(heap.make_string(b"items"));
        let list = [1, 2, 3].map(|it| number(&mut heap, it));
        consts.push(heap.make_list(&list));
        let context = heap.make_map(&[], &[]);
        Lab {
            heap,
            program: Arc::new(compiled),
            consts,
            context,
            units: MANY,
            tools: Tools::Answer,
            calls: Vec::new(),
            suspensions: 0,
            weighed: Vec::new(),
            in_turn: false,
            turns: Vec::new(),
        }
    }

    fn meter(&self) -> Meter {
        Meter::with_fuel(Limits::UNLIMITED, self.units)
    }

    fn data(&self) -> Data<Term> {
        Data {
            context: self.context,
            ..Data::of(self.heap.nil())
        }
    }

    /// Runs the program to its end.
    fn run(&mut self, mode: Mode) -> Result<String, String> {
        let mut plain = Plain::new(Some(Limits::UNLIMITED));
        plain.mode = mode;
        let consts = Consts::Vector(self.consts.clone());
        let data = self.data();
        let (program, meter) = (self.program.clone(), self.meter());
        let left = program.start(plain, &mut self.heap, &mut Given { consts, data }, meter);
        let value = self.drive(left)?;
        Ok(self.heap.show(value))
    }

    /// Drives a run that has been started to its end.
    fn drive(&mut self, left: Left) -> Result<Term, String> {
        let (mut executed, run) = left.expect("it begins");
        let mut kept = run;
        loop {
            let value = match executed.ending {
                Ending::Done(value) => return Ok(value),
                Ending::Fault(report) => return Err(report.name.unwrap_or_default().into_owned()),
                Ending::Uncaught(_) => return Err("uncaught".to_owned()),
                Ending::Last { args, .. } => return Ok(self.call(args)),
                Ending::Ask { what, about } => {
                    self.calls.push(format!("{what}?"));
                    Some((ValueKind::Answer, self.call(about)))
                }
                Ending::Call {
                    args,
                    most_words,
                    turn,
                    ..
                } => {
                    self.turns.push(turn);
                    let moves = most_words.is_some() && self.tools == Tools::Move;
                    let answer = self.call(args);
                    if most_words.is_some() {
                        self.weighed.push(self.calls.len());
                    }
                    Some(match (self.tools, moves) {
                        (Tools::Fail, _) => (ValueKind::Failed, answer),
                        (_, true) => (ValueKind::Moved, answer),
                        (_, false) => (ValueKind::Answer, answer),
                    })
                }
                Ending::Stop(Stop::SliceOver) => {
                    self.suspensions += 1;
                    None
                }
                Ending::Stop(stop) => return Err(format!("{stop:?}")),
                Ending::Fork { .. } if self.in_turn => Some((ValueKind::InTurn, self.heap.nil())),
                Ending::Fork { list, .. } => {
                    let held = executed.held.as_deref().expect("it is suspended");
                    let run = kept.as_deref().expect("it is suspended");
                    let joined = self.rounds(run, held, list)?;
                    Some((ValueKind::Joined, joined))
                }
            };
            let held = executed.held.expect("it is suspended");
            let run = kept.as_mut().expect("it is suspended");
            executed = self.resume(run, &held, value).expect("its own terms");
        }
    }

    fn call(&mut self, args: Term) -> Term {
        self.calls.push(self.heap.show(args));
        let answer = self.heap.small_integer(args).map_or(0, |it| it + 1);
        number(&mut self.heap, answer)
    }

    /// Runs each round to its end. Returns the list of their values.
    fn rounds(
        &mut self,
        run: &dyn Running<OnPlain>,
        held: &[Term],
        list: Term,
    ) -> Result<Term, String> {
        let (mut rest, mut values) = (list, Vec::new());
        while let Some((item, tail)) = self.heap.uncons(rest) {
            rest = tail;
            let consts = Consts::Vector(self.consts.clone());
            let (_, data) = Given::held(held, self.heap.nil()).expect("the terms of a run");
            let meter = self.meter();
            let mut given = Given { consts, data };
            let round = (&held[FIRST..], item);
            let left = run.round(&mut self.heap, &mut given, round, meter);
            values.push(self.drive(left)?);
        }
        Ok(self.heap.make_list(&values))
    }

    /// Executes what follows the call of a suspended run without its answer.
    fn unanswered(
        &mut self,
        run: &dyn Running<OnPlain>,
        held: &[Term],
    ) -> (Executed<Term>, Option<AnyRun>) {
        let consts = Consts::Vector(self.consts.clone());
        let (_, data) = Given::held(held, self.heap.nil()).expect("the terms of a run");
        let (mut given, meter) = (Given { consts, data }, self.meter());
        let left = run.unanswered(&mut self.heap, &mut given, &held[FIRST..], meter);
        left.expect("its own terms")
    }

    /// Returns the arguments of the call at which an execution has ended.
    fn args_of(&self, executed: &Executed<Term>) -> String {
        match &executed.ending {
            Ending::Call { args, .. } => self.heap.show(*args),
            other => format!("{other:?}"),
        }
    }

    /// Resumes a suspended run.
    fn resume(
        &mut self,
        run: &mut AnyRun,
        held: &[Term],
        value: Option<(ValueKind, Term)>,
    ) -> Option<Executed<Term>> {
        let (consts, data) = Given::held(held, self.heap.nil())?;
        let consts = self.heap.elements(consts)?.to_vec();
        run.plain()
            .owns(&self.heap, held, consts.len())
            .then_some(())?;
        let consts = Consts::Vector(consts);
        let terms = &held[FIRST..];
        let entry = Entry::Resume { terms, value };
        let (mut given, meter) = (Given { consts, data }, self.meter());
        run.execute(&mut self.heap, &mut given, entry, meter)
    }

    /// Drives a run over texts to its end. Until its first call, an execution may use twice as many units as the one before, up
    /// to those that a step of the index takes.
    fn over_texts(&mut self, mut run: TextRun<OnPlain, Term>) -> Result<String, String> {
        let least = self.units;
        loop {
            self.units = match self.units {
                _ if !self.calls.is_empty() => least,
                8_192.. => least,
                units => 2 * units,
            };
            let texts = self.heap.elements(run.texts).expect("texts").iter().skip(1);
            let texts = texts.map(|text| self.heap.bytes(*text).expect("a text").to_vec());
            let texts: Vec<_> = texts.collect();
            let bytes: Vec<_> = texts.iter().map(Vec::as_slice).collect();
            let (heap, mut meter) = (std::mem::take(&mut self.heap), self.meter());
            let (outcome, _, heap) = run.step(&bytes, heap, &mut meter);
            self.heap = heap;
            match outcome {
                Ok(Outcome::Value(value)) => return Ok(self.heap.show(value)),
                Ok(Outcome::Call { args, .. } | Outcome::Ask { about: args, .. }) => {
                    let answer = self.call(args);
                    run.answered(answer, ValueKind::Answer, &mut self.heap);
                }
                Err(Stop::SliceOver) => self.suspensions += 1,
                other => return Err(format!("{other:?}")),
            }
            let mut terms = Vec::new();
            let frozen = freeze(run, &mut self.heap, &mut terms);
            run = thaw(frozen, &self.heap, &mut terms.into_iter()).expect("its terms");
        }
    }
}

fn number(heap: &mut PlainHeap, value: i64) -> Term {
    heap.make_number(Number::Int(value)).expect("short")
}

/// `map(f, list)` where `f(x) = t(x) + captured`; the constants are `map`, what is captured, and `t`.
fn mapping(list: Instr<Toy>) -> Vec<Instr<Toy>> {
    vec![
        Instr::Const(0),
        Instr::Const(1),
        Instr::Own(Own::Function(6, 2)),
        list,
        Instr::Invoke(2),
        Instr::Done,
        Instr::Const(2),
        Instr::Slot(0),
        Instr::Invoke(1),
        Instr::Own(Own::Captured(1)),
        Instr::Own(Own::Add),
        Instr::Return,
    ]
}

fn call(on_error: u32) -> Instr<Toy> {
    Instr::Call {
        tool: ITEMS,
        on_error,
    }
}

/// `t(first) + t(second)`, whose sides may run at the same time.
fn sum_of_calls() -> (Vec<Instr<Toy>>, Vec<Branches>) {
    let code = vec![
        Instr::Const(0),
        call(NO_PC),
        Instr::Const(1),
        call(NO_PC),
        Instr::Own(Own::Add),
        Instr::Done,
    ];
    let starts = vec![0, 2];
    (code, vec![Branches { starts, end: 4 }])
}

#[test]
fn a_run_is_suspended_at_each_unit_and_each_call() {
    for (function, called) in [
        (TOOL, &["1", "2", "3"][..]),
        (QUESTION, &["7?", "1", "7?", "2", "7?", "3"]),
    ] {
        for units in (1..40).chain([MANY]) {
            let mut lab = Lab::new(mapping(Instr::Const(LIST)), vec![], [MAP, 10, function]);
            lab.units = units;
            assert_eq!(lab.run(Mode::Asks).as_deref(), Ok("[12, 13, 14]"));
            assert_eq!(lab.calls, called);
            assert!(units > 1 || lab.suspensions > 20);
            assert!(units < MANY || lab.suspensions == 0);
        }
    }
}

#[test]
fn an_error_has_the_name_that_the_language_gives_it() {
    let mut lab = Lab::new(
        vec![Instr::Const(0), Instr::Invoke(0), Instr::Done],
        vec![],
        [5, 0, 0],
    );
    assert_eq!(lab.run(Mode::Asks), Err("call".to_owned()));
}

#[test]
fn branches_run_as_rounds_and_are_joined() {
    for units in [1, 2, 3, MANY] {
        for (mode, rounds) in [(Mode::Asks, false), (Mode::Forks, true)] {
            let (code, branches) = sum_of_calls();
            let mut lab = Lab::new(code, branches, [10, 20, 0]);
            lab.units = units;
            assert_eq!(lab.run(mode).as_deref(), Ok("32"));
            assert_eq!(lab.calls, ["10", "20"]);
            // Neither a round nor a run that forks is weighed.
            assert_eq!(lab.weighed.is_empty(), rounds);
        }
    }
}

#[test]
fn branches_run_in_turn_in_the_run_itself() {
    for units in [1, 2, 3, MANY] {
        let (code, branches) = sum_of_calls();
        let mut lab = Lab::new(code, branches, [10, 20, 0]);
        (lab.units, lab.in_turn) = (units, true);
        assert_eq!(lab.run(Mode::Forks).as_deref(), Ok("32"));
        assert_eq!(lab.calls, ["10", "20"]);
        assert_eq!(lab.turns, [Some(0), Some(1)]);
        assert!(lab.weighed.is_empty());
    }
}

#[test]
fn a_round_may_begin_at_a_call_of_another_one_in_turn() {
    let (code, branches) = sum_of_calls();
    let mut lab = Lab::new(code, branches, [10, 20, 0]);
    let mut plain = Plain::new(Some(Limits::UNLIMITED));
    plain.mode = Mode::Forks;
    let (consts, data) = (Consts::Vector(lab.consts.clone()), lab.data());
    let (program, meter) = (lab.program.clone(), lab.meter());
    let left = program.start(plain, &mut lab.heap, &mut Given { consts, data }, meter);
    let (forked, run) = left.expect("it begins");
    let (held, mut run) = (forked.held.unwrap(), run.unwrap());
    let nil = lab.heap.nil();
    let waits = lab.resume(&mut run, &held, Some((ValueKind::InTurn, nil)));
    let waits = waits.expect("its own terms");
    assert!(matches!(waits.ending, Ending::Call { turn: Some(0), .. }));
    // The call of the first branch waits, and the second one is a run of its own.
    let index = [number(&mut lab.heap, 1)];
    let list = lab.heap.make_list(&index);
    let values = lab.rounds(&*run, &waits.held.unwrap(), list);
    assert_eq!(lab.heap.show(values.unwrap()), "[21]");
    assert_eq!(lab.calls, ["20"]);
}

#[test]
fn what_follows_a_call_goes_on_without_its_answer_until_something_reads_it() {
    for in_turn in [false, true] {
        let (code, branches) = sum_of_calls();
        let mut lab = Lab::new(code, branches, [10, 20, 0]);
        let mut plain = Plain::new(Some(Limits::UNLIMITED));
        plain.mode = if in_turn { Mode::Forks } else { Mode::Asks };
        let (consts, data) = (Consts::Vector(lab.consts.clone()), lab.data());
        let (program, meter) = (lab.program.clone(), lab.meter());
        let left = program.start(plain, &mut lab.heap, &mut Given { consts, data }, meter);
        let (mut executed, run) = left.expect("it begins");
        let mut run = run.unwrap();
        if in_turn {
            let nil = lab.heap.nil();
            let held = executed.held.unwrap();
            let waits = lab.resume(&mut run, &held, Some((ValueKind::InTurn, nil)));
            executed = waits.expect("its own terms");
        }
        assert_eq!(lab.args_of(&executed), "10");
        // The second branch does not read the answer of the first one, but a run in turn does not leave its branch.
        let held = executed.held.unwrap();
        let (ahead, second) = lab.unanswered(&*run, &held);
        if in_turn {
            assert!(matches!(ahead.ending, Ending::Done(_)));
        } else {
            assert_eq!(lab.args_of(&ahead), "20");
            // The sum reads both.
            let (end, _) = lab.unanswered(&*second.unwrap(), &ahead.held.unwrap());
            assert!(matches!(end.ending, Ending::Done(_)));
        }
        // The run itself has stayed at its call.
        let answer = number(&mut lab.heap, 1);
        let next = lab.resume(&mut run, &held, Some((ValueKind::Answer, answer)));
        assert_eq!(lab.args_of(&next.expect("its own terms")), "20");
    }
}

#[test]
fn a_run_moves_to_its_tools_and_stays_there() {
    let mut lab = Lab::new(mapping(Instr::Const(LIST)), vec![], [MAP, 10, TOOL]);
    assert_eq!(lab.run(Mode::Asks).as_deref(), Ok("[12, 13, 14]"));
    assert_eq!(lab.weighed, [1, 2]);
    let mut lab = Lab::new(mapping(Instr::Const(LIST)), vec![], [MAP, 10, TOOL]);
    lab.tools = Tools::Move;
    assert_eq!(lab.run(Mode::Asks).as_deref(), Ok("[12, 13, 14]"));
    assert_eq!(lab.weighed, [1]);
}

#[test]
fn the_error_of_a_tool_is_caught_by_the_program_or_ends_the_run() {
    let code = |on_error| {
        vec![
            Instr::Const(0),
            call(on_error),
            Instr::Drop,
            Instr::Const(1),
            Instr::Done,
        ]
    };
    for (on_error, end) in [
        (2, Ok("20".to_owned())),
        (NO_PC, Err("uncaught".to_owned())),
    ] {
        let mut lab = Lab::new(code(on_error), vec![], [10, 20, 0]);
        lab.tools = Tools::Fail;
        assert_eq!(lab.run(Mode::Asks), end);
    }
}

#[test]
fn a_run_is_resumed_only_with_its_own_terms() {
    let (code, branches) = sum_of_calls();
    let mut lab = Lab::new(code, branches, [10, 20, 0]);
    let start = |lab: &mut Lab| {
        let consts = Consts::Vector(lab.consts.clone());
        let (data, plain) = (lab.data(), Plain::new(Some(Limits::UNLIMITED)));
        let mut given = Given { consts, data };
        let (program, meter) = (lab.program.clone(), lab.meter());
        let (executed, run) = program
            .start(plain, &mut lab.heap, &mut given, meter)
            .unwrap();
        (executed.held.unwrap(), run.unwrap())
    };
    let (own, mut run) = start(&mut lab);
    let (other, _) = start(&mut lab);
    let answer = Some((ValueKind::Answer, number(&mut lab.heap, 1)));
    assert!(lab.resume(&mut run, &other, answer).is_none());
    assert!(lab
        .resume(&mut run, &own[..own.len() - 1], answer)
        .is_none());
    assert!(lab.resume(&mut run, &own, answer).is_some());
}

#[test]
fn a_run_reads_texts_that_are_not_decoded() {
    for function in [TOOL, QUESTION] {
        for units in (1..40).chain([100_000]) {
            let code = mapping(Instr::LoadContext(ITEMS));
            let mut lab = Lab::new(code, vec![], [MAP, 10, function]);
            let heap = &mut lab.heap;
            let marker = number(heap, 7_777);
            let text = heap.make_string(b" [1, 2,\n3]");
            let texts = heap.make_tuple(&[marker, text]);
            let first = number(heap, whole(0));
            let first = heap.make_tuple(&[marker, first]);
            lab.context = heap.make_map(&[lab.consts[ITEMS as usize]], &[first]);
            let consts = heap.make_tuple(&lab.consts);
            let given = (texts, consts, lab.data());
            let run = TextRun::new(lab.program.clone(), given, &lab.heap).expect("a marker");
            lab.units = units;
            assert_eq!(lab.over_texts(run).as_deref(), Ok("[12, 13, 14]"));
            assert_eq!(lab.calls, ["1", "2", "3"]);
            assert!(units > 1 || lab.suspensions > 20);
        }
    }
}

#[test]
fn a_run_goes_on_over_the_text_that_its_tool_has_answered() {
    for units in (1..40).chain([100_000]) {
        // `map(f, rows())`: the answer of the first call is a text.
        let mut code = mapping(Instr::Jump(12));
        code.extend([Instr::Nil, call(NO_PC), Instr::Jump(4)]);
        let mut lab = Lab::new(code, vec![], [MAP, 10, TOOL]);
        let consts = Consts::Vector(lab.consts.clone());
        let (data, plain) = (lab.data(), Plain::new(Some(Limits::UNLIMITED)));
        let mut given = Given { consts, data };
        let (program, meter) = (lab.program.clone(), lab.meter());
        let left = program.start(plain, &mut lab.heap, &mut given, meter);
        let (executed, run) = left.expect("it begins");
        let (held, run) = (executed.held.expect("a call"), run.expect("a call"));
        let run = TextRun::of_run(run, &held, &mut lab.heap);
        let mut run = run.expect("its own terms");
        let (tool, text) = (lab.heap.nil(), lab.heap.make_string(b"[1, 2, 3]"));
        let answer = lab.heap.make_tuple(&[tool, text]);
        run.answered(answer, ValueKind::Text, &mut lab.heap);
        lab.units = units;
        assert_eq!(lab.over_texts(run).as_deref(), Ok("[12, 13, 14]"));
        assert_eq!(lab.calls, ["1", "2", "3"]);
    }
}
