//! Runs programs on the heap of plain values, in executions of so many units.
#![allow(dead_code)]

use ptc_lisp::analyze::analyze;
use ptc_lisp::code::{Lisp, ASK_PRINT};
use ptc_lisp::compile::{compile, compile_observed, Texts};
use ptc_lisp::consts::{materialize, Word};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::named::Named;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_vm::{Counts, Exit, Halt, Inputs, State, Vm, Watch};

/// How a run has ended: its value, or its error as `code name detail terms`; and what it has printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The value, or the error.
    pub end: Result<String, String>,
    /// The texts that it has printed, and its questions.
    pub asked: Vec<String>,
}

/// A run of a program.
pub struct Run<'r> {
    /// The program.
    pub source: &'r str,
    /// The context: keys and texts.
    pub context: &'r [(&'r str, &'r [u8])],
    /// The units of each execution.
    pub units: usize,
    /// The limits.
    pub limits: Limits,
}

/// Makes an empty `MapSet`.
fn empty_set(heap: &mut PlainHeap) -> Term {
    let keys = ["__struct__", "map", "version"].map(|name| heap.atom(name));
    let module = heap.atom("Elixir.MapSet");
    let map = heap.make_map(&[], &[]);
    let version = heap
        .make_number(ptc_term::number::Number::Int(2))
        .expect("a number");
    heap.make_map(&keys, &[module, map, version])
}

impl Run<'_> {
    /// Runs it. A question is answered with its own text.
    pub fn run(&self) -> Ended {
        self.counted().0
    }

    /// Runs it; also returns the fuel that it has consumed, and the words that it has built.
    pub fn counted(&self) -> (Ended, usize, usize) {
        let (ended, fuel, words, _) = self.measured();
        (ended, fuel, words)
    }

    /// Runs it; returns what `counted` does, and the most terms that it had while it was suspended.
    pub fn measured(&self) -> (Ended, usize, usize, usize) {
        self.executed(&mut None)
    }

    /// Runs it observed; also returns the counts of its forms, without what depends on when it is suspended.
    pub fn observed(&self) -> (Ended, Vec<Counts>) {
        let mut watch = Some(None);
        let (ended, ..) = self.executed(&mut watch);
        let watch = watch.flatten().expect("the counts");
        let mut counts = watch.counts().to_vec();
        for form in &mut counts {
            (form.nanos, form.total_nanos, form.breaks) = (0, 0, 0);
            // A suspension builds some, too.
            (form.words, form.total_words) = (0, 0);
        }
        (ended, counts)
    }

    /// Runs it, and observes it if there is room for a watch.
    fn executed(&self, watch: &mut Option<Option<Box<Watch>>>) -> (Ended, usize, usize, usize) {
        let analyzed = analyze(self.source, &[]).expect("a program");
        let texts = Texts {
            program: self.source,
            added: &[],
        };
        let compiled = match watch {
            Some(_) => compile_observed(&analyzed, &texts, &[]),
            None => compile(&analyzed, &texts, &[]),
        };
        let compiled = compiled.expect("a program");
        let mut heap = PlainHeap::default();
        let set = empty_set(&mut heap);
        let words: Vec<_> = Word::ALL.iter().map(|word| heap.word(*word)).collect();
        let consts = materialize(
            &mut heap,
            words.into_iter(),
            &compiled.functions,
            &compiled.constants,
            set,
        );
        let nil = heap.nil();
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, text) in self.context {
            keys.push(heap.make_string(key.as_bytes()));
            values.push(heap.make_string(text));
        }
        let context = heap.make_map(&keys, &values);
        let no_memory = heap.make_map(&[], &[]);
        let no_list = heap.make_list(&[]);
        let environment = heap.make_tuple(&[no_memory, no_list, no_memory, nil]);
        let program = &compiled.program;
        if let Some(watch) = watch {
            *watch = Some(Box::new(Watch::new(&program.sites, program.detail)));
        }
        let mut asked = Vec::new();
        let mut answer = None;
        let (mut executions, mut fuel, mut most) = (0, 0, 0);
        let mut state = State::<Lisp, _>::start(program, &mut heap, None, |heap| heap.nil());
        loop {
            let inputs = Inputs {
                consts: &consts,
                context,
                environment,
            };
            // A slice makes no progress at all if a step is too long for it, so every second execution is a quantum.
            let pace = [Pace::Slice, Pace::Quantum][executions % 2];
            let meter = Meter::with_fuel_at(pace, self.limits, self.units);
            let mut vm = Vm::new(program, &mut heap, inputs, state, meter);
            if let Some(watch) = watch.as_mut().and_then(Option::take) {
                vm.observe(watch);
            }
            let exit = match answer.take() {
                Some(answer) => vm.resume(answer),
                None => vm.run(),
            };
            assert!(!vm.is_broken());
            fuel += vm.fuel_consumed();
            if let Some(watch) = watch {
                *watch = vm.take_watch();
            }
            let left = vm.into_state();
            let end = match exit {
                Exit::Done(value) => {
                    let value = heap.element(value, 1).expect("a result");
                    Some(Ok(heap.show(value)))
                }
                Exit::Ask { what, about } => {
                    let text = match what {
                        ASK_PRINT => heap.bytes(about).unwrap_or_default().to_vec(),
                        _ => heap.show(about).into_bytes(),
                    };
                    asked.push(String::from_utf8_lossy(&text).into_owned());
                    let yes = heap.boolean(true);
                    answer = Some(match what {
                        ASK_PRINT => nil,
                        _ => heap.make_tuple(&[yes, about]),
                    });
                    None
                }
                Exit::Halted(Halt::Stop(Stop::SliceOver)) => None,
                Exit::Halted(Halt::Stop(stop)) => Some(Err(format!("{stop:?}"))),
                Exit::Halted(Halt::Fault(fault)) => {
                    let terms: Vec<String> = fault.terms.iter().map(|it| heap.show(*it)).collect();
                    let (name, detail) = (fault.name, fault.detail);
                    Some(Err(format!(
                        "{} {} {} {}",
                        fault.code,
                        name.unwrap_or_default(),
                        detail.unwrap_or_default(),
                        terms.join(", ")
                    )))
                }
                Exit::Call { .. } | Exit::Fork { .. } => Some(Err("a call".to_string())),
            };
            if let Some(end) = end {
                return (Ended { end, asked }, fuel, heap.words_built(), most);
            }
            executions += 1;
            // Only the plain data and the terms survive.
            let mut terms = Vec::new();
            let frozen = freeze(left, &mut heap, &mut terms);
            most = most.max(terms.len());
            let mut terms = terms.into_iter();
            state = thaw(frozen, &heap, &mut terms).expect("its terms");
            assert_eq!(terms.next(), None);
        }
    }
}

/// The value of a program, or its error; the same in executions of any length.
pub fn value(source: &str) -> Result<String, String> {
    let ended = |units| {
        let run = Run {
            source,
            context: &[],
            units,
            limits: Limits::UNLIMITED,
        };
        run.run()
    };
    let whole = ended(1_000_000);
    for units in [1, 7, 100] {
        assert_eq!(ended(units), whole, "{source} in executions of {units}");
    }
    whole.end
}
