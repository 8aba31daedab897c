//! Programs over JSON texts that are not decoded.

use super::rng::Rng;
use super::{ended, generate, term, End, Lab, STRICT};
use ptc_index::{Index, Indexer};
use ptc_lazy::settle::Settle;
use ptc_lazy::{Given, Lazy, Source};
use ptc_program::code::State;
use ptc_program::code::Vm;
use ptc_program::compile::{Options, INPUT_NAME};
use ptc_term::heap::Heap;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw, Rooted};
use ptc_vm::Halt;
use ptc_vm::{Exit, Inputs};
use std::mem::take;
use std::time::Duration;

/// Enough for what small inputs compute.
pub const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_secs(2)),
    words: 200_000,
};

/// Keys are also atoms.
pub const ANY_KEYS: Options = Options {
    any_keys: true,
    ..STRICT
};

/// Structs are values.
pub const VALUES: Options = Options {
    values: true,
    ..STRICT
};

/// The number that marks values of texts in tests.
const MARKER: i64 = 0x7e57_0123_4567_89ab & ((1 << 59) - 1);

/// A text and its index.
pub struct Indexed {
    pub text: String,
    pub index: Index,
}

/// Indexes a text in steps; `None` if it is not valid.
pub fn indexed(text: &str) -> Option<Indexed> {
    let mut indexer = Indexer::new(text.len(), 1_000_000)?;
    let index = loop {
        if let Some(index) = indexer.step(text.as_bytes(), 1).ok()? {
            break index;
        }
    };
    let text = text.to_owned();
    Some(Indexed { text, index })
}

impl Indexed {
    pub fn source(&self) -> Source<'_> {
        Source::new(self.text.as_bytes(), &self.index)
    }

    /// Whether it can be read in place.
    pub fn fits(&self) -> bool {
        ptc_lazy::fits(&self.index)
    }
}

/// Names and the texts of their values.
pub type Texts = Vec<(&'static str, String)>;

/// A context for programs, as texts.
pub fn context(rng: &mut Rng) -> Texts {
    let items: Vec<_> = (0..rng.below(6)).map(|_| generate::item(rng)).collect();
    let mut names: Texts = vec![("items", format!("[{}]", items.join(" ,")))];
    for name in ["a", "b", "n"] {
        if !rng.once_in(4) {
            names.push((name, generate::json(rng, 3)));
        }
    }
    names
}

/// The object of these values.
pub fn object(texts: &Texts) -> String {
    let pairs = texts.iter().map(|(name, text)| format!("{name:?}:{text}"));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

/// A suspended run, and its terms on the inner heap.
type Left = (State<()>, Vec<Term>);

fn leave<R: Rooted<Term = ptc_lazy::Term<Term>>>(
    state: R,
    lazy: &mut Lazy<PlainHeap>,
) -> (R::With<()>, Vec<Term>) {
    let mut out = Vec::new();
    let state = freeze(state, lazy, &mut out);
    let out = out.into_iter().map(|term| lazy.pack(term)).collect();
    (state, out)
}

fn come_back<R: Rooted<Term = ()>>(
    (state, terms): (R, Vec<Term>),
    lazy: &Lazy<PlainHeap>,
) -> R::With<ptc_lazy::Term<Term>> {
    let mut terms = terms.into_iter().map(|term| lazy.wrap(term));
    let state = thaw(state, lazy, &mut terms).expect("its terms");
    assert!(terms.next().is_none(), "each term has its place");
    state
}

/// A run over texts.
pub struct OverTexts {
    pub lab: Lab,
    texts: Vec<Indexed>,
    stored: bool,
}

impl OverTexts {
    /// The lab with these texts as values of its context.
    pub fn new(mut lab: Lab, texts: &Texts) -> Self {
        let indexed: Vec<_> = texts
            .iter()
            .map(|(_, text)| indexed(text).expect("JSON"))
            .collect();
        let mut over = OverTexts {
            texts: indexed,
            stored: false,
            lab: Lab::new(PlainHeap::new(), lab.program.clone(), Vec::new()),
        };
        let keys: Vec<_> = texts
            .iter()
            .map(|(name, _)| lab.heap.make_string(name.as_bytes()))
            .collect();
        let mut lazy = over.lazy(take(&mut lab.heap));
        let roots: Vec<_> = (0..keys.len()).map(|text| lazy.root(text as u32)).collect();
        let keys: Vec<_> = keys.iter().map(|key| lazy.wrap(*key)).collect();
        let context = lazy.make_map(&keys, &roots);
        let ptc_lazy::Term::Real(context) = context else {
            panic!("a map is a term of the inner heap");
        };
        lab.heap = lazy.into_inner();
        lab.context = context;
        lab.heap.give();
        over.lab = lab;
        over
    }

    fn lazy(&self, heap: PlainHeap) -> Lazy<'_, PlainHeap> {
        let given = Given {
            texts: self.texts.iter().map(Indexed::source).collect(),
            marker: MARKER,
            stored: self.stored,
            words: 0,
        };
        Lazy::new(heap, given)
    }

    /// Runs to the end. `meter`: the meter of the next execution.
    pub fn run(&mut self, mut meter: impl FnMut(Limits) -> Meter) -> End {
        let (program, consts) = (self.lab.program.clone(), self.lab.consts.clone());
        let (context, memory) = (self.lab.context, self.lab.memory);
        let mut limits = self.lab.limits;
        let mut left: Option<Left> = None;
        let mut answer: Option<Term> = None;
        let (mut calls, mut called) = (Vec::new(), 0);
        loop {
            let heap = take(&mut self.lab.heap);
            let mut lazy = self.lazy(heap);
            let consts: Vec<_> = consts.iter().map(|term| lazy.wrap(*term)).collect();
            let (context, memory) = (lazy.wrap(context), lazy.wrap(memory));
            let state = match left.take() {
                Some(left) => come_back(left, &lazy),
                None => {
                    let input = Vm::input_of(&program, &mut lazy, memory, INPUT_NAME.as_bytes());
                    let now = |heap: &mut Lazy<_>| heap.make_string(b"2024-02-29T10:30:00Z");
                    State::start(&program, &mut lazy, input, now)
                }
            };
            let inputs = Inputs {
                consts: &consts,
                context,
                environment: memory,
            };
            let answered = answer.take().map(|answer| lazy.wrap(answer));
            let mut vm = Vm::new(&program, &mut lazy, inputs, state, meter(limits));
            let exit = match answered {
                Some(answer) => vm.resume(answer),
                None => vm.run(),
            };
            assert!(!vm.is_broken(), "the stack is the one it was left with");
            limits = vm.limits();
            let state = vm.into_state();
            left = Some(leave(state, &mut lazy));
            let mut next = |limits| meter(limits);
            let done = match exit {
                Exit::Done(value) => {
                    let value = settled(&mut lazy, vec![value], &mut next);
                    Some(End::Value(lazy.inner().show(value[0])))
                }
                Exit::Call { tool, args } => {
                    let terms = settled(&mut lazy, vec![tool, args], &mut next);
                    let heap = lazy.inner();
                    let call = format!("{} {}", heap.show(terms[0]), heap.show(terms[1]));
                    calls.push(call);
                    called += 1;
                    answer = Some(match lazy.inner().bytes(terms[0]) {
                        Some(b"echo") => terms[1],
                        Some(b"count") => {
                            let count = Number::Int(called);
                            lazy.inner().make_number(count).expect("an integer")
                        }
                        _ => lazy.inner().tuple(&terms),
                    });
                    None
                }
                Exit::Halted(Halt::Stop(Stop::SliceOver)) => None,
                Exit::Fork { .. } | Exit::Ask { .. } => unreachable!("no run here forks"),
                Exit::Halted(Halt::Fault(mut fault)) => {
                    let terms = settled(&mut lazy, take(&mut fault.terms), &mut next);
                    let fault = Box::new((*fault).map(|_| unreachable!("they were taken")));
                    let mut fault: Box<ptc_program::fault::Fault<Term>> = fault;
                    fault.terms = terms;
                    Some(ended(lazy.inner(), Halt::Fault(fault)))
                }
                Exit::Halted(Halt::Stop(stop)) => Some(ended(lazy.inner(), Halt::Stop(stop))),
            };
            let stored = lazy.has_stored();
            let heap = lazy.into_inner();
            (self.stored, self.lab.heap) = (stored, heap);
            self.lab.calls.append(&mut calls);
            if let Some(end) = done {
                return end;
            }
            self.lab.executions += 1;
            assert!(self.lab.executions < 10_000_000, "the run does not end");
        }
    }
}

/// Builds the values of texts in these terms, suspended as often as the meter says.
fn settled(
    lazy: &mut Lazy<PlainHeap>,
    terms: Vec<ptc_lazy::Term<Term>>,
    meter: &mut dyn FnMut(Limits) -> Meter,
) -> Vec<Term> {
    let count = terms.len();
    let mut settle = Settle::new(terms);
    let mut least = 1;
    loop {
        // A long number, or a large map, needs more fuel than some executions have.
        let asked = meter(super::FREE);
        least += 8;
        let mut meter = match asked.pace() {
            Pace::Quantum if asked.fuel_consumed() == 0 => asked,
            _ => Meter::with_fuel(super::FREE, least),
        };
        match settle.run(lazy, &mut meter) {
            Ok(()) => break,
            Err(Stop::SliceOver) => {
                let left = leave(settle, lazy);
                settle = come_back(left, lazy);
            }
            Err(stop) => panic!("{stop:?}"),
        }
    }
    let mut all: Vec<_> = (0..count)
        .map(|_| match settle.take_last(lazy) {
            Some(ptc_lazy::Term::Real(term)) => term,
            other => panic!("{other:?}"),
        })
        .collect();
    all.reverse();
    all
}

/// A program ends the same way over texts and over what they are decoded to.
pub fn same(program: &str, texts: &Texts, options: Options, limits: Limits, rng: &mut Rng) {
    let lab = || {
        let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), options)?;
        Ok::<_, End>(Lab { limits, ..lab })
    };
    let Ok(mut decoded) = lab() else {
        return;
    };
    let context = object(texts);
    decoded.context = term(&mut decoded.heap, &context).expect("JSON");
    decoded.heap.give();
    let expected = decoded.in_one_go();
    let shown = || format!("{program}\n{context}");
    let stops = |end: &End| matches!(end, End::DeadlinePassed | End::MemoryExceeded);
    let mut over = OverTexts::new(lab().expect("it was compiled"), texts);
    let end = over.run(|limits| Meter::new(limits, Pace::Quantum).with_quantum(super::LONG));
    if stops(&end) || stops(&expected) {
        return;
    }
    assert_eq!(end, expected, "{}", shown());
    assert_eq!(over.lab.calls, decoded.calls, "{}", shown());
    let longest = 1 + rng.below(20);
    let mut least = longest;
    let mut over = OverTexts::new(lab().expect("it was compiled"), texts);
    let end = over.run(|limits| {
        least += usize::from(rng.once_in(64));
        Meter::with_fuel(limits, 1 + rng.below(least))
    });
    if !stops(&end) {
        assert_eq!(end, expected, "suspended: {}", shown());
        assert_eq!(over.lab.calls, decoded.calls, "suspended: {}", shown());
    }
}
