//! Runs that look ahead for the calls that follow a call, as a run does that has moved to the process of its tools.

use super::{ended, End, Lab, Suspended};
use super::{Exit, Halt, Inputs, Limits, Meter, Pace, PlainHeap, State, Stop, Vm, LONG};
use ptc_program::compile::INPUT_NAME;
use ptc_term::heap::Heap;
use ptc_vm::{look_ahead, Answers};

impl Lab {
    /// Runs to the end. `looks`: how many calls are made at a time at most; `takes`: of how many of so many calls the answers are given to the run.
    /// Returns how often the run has passed bodies.
    pub fn looking_ahead(
        &mut self,
        looks: usize,
        mut takes: impl FnMut(usize) -> usize,
    ) -> (End, usize) {
        let input = Vm::input_of(
            &self.program,
            &mut self.heap,
            self.memory,
            INPUT_NAME.as_bytes(),
        );
        let now = |heap: &mut PlainHeap| heap.make_string(b"2024-02-29T10:30:00Z");
        let mut state = State::start(&self.program, &mut self.heap, input, now);
        let (mut answers, mut passed) = (Answers::None, 0);
        let limits: Limits = self.limits;
        loop {
            passed += usize::from(matches!(answers, Answers::Passing(_)));
            let inputs = || Inputs {
                consts: &self.consts,
                context: self.context,
                environment: self.memory,
            };
            let meter = Meter::new(limits, Pace::Quantum).with_quantum(LONG);
            let (program, heap) = (&self.program, &mut self.heap);
            let mut vm = Vm::new(program, heap, inputs(), state, meter);
            let exit = answers.resume(&mut vm);
            assert!(!vm.is_broken(), "the run passes what it has looked at");
            let collects = vm.only_collects();
            let left = vm.into_state();
            state = Suspended::new(left, &mut self.heap).resume(&self.heap);
            answers = match exit {
                Exit::Done(value) => return (End::Value(self.heap.show(value)), passed),
                Exit::Call { tool, args } => {
                    let mut all = vec![args];
                    let looked = collects.then(|| {
                        let start = (state.clone(), limits, false);
                        let built = self.heap.words_built();
                        let heap = &mut self.heap;
                        let looked = look_ahead(
                            &self.program,
                            heap,
                            inputs(),
                            start,
                            (&mut all, looks, false),
                        );
                        self.heap.give();
                        self.heap.built(built);
                        looked
                    });
                    all.truncate(takes(all.len()).max(1));
                    let mut given = Vec::new();
                    for args in all {
                        let call = format!("{} {}", self.heap.show(tool), self.heap.show(args));
                        self.calls.push(call);
                        given.push(self.answer(tool, args));
                    }
                    match looked {
                        Some(looked) => {
                            let answers = Answers::All(given);
                            looked.passed(&mut self.heap, &mut state, answers)
                        }
                        None => Answers::One(given[0]),
                    }
                }
                Exit::Halted(Halt::Stop(Stop::SliceOver)) => Answers::None,
                Exit::Fork { .. } | Exit::Ask { .. } => unreachable!("no run here forks"),
                Exit::Halted(halt) => return (ended(&self.heap, halt), passed),
            };
        }
    }
}
