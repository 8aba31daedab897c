//! How a run starts, and how it is frozen and thawed.

use super::checkpoint::{Checkpoint, Frozen};
use super::failing::Failing;
use super::machine::Machine;
use super::run::Vm;
use super::stack::Stack;
use super::work::Work;
use crate::heap::{Heap, Lookup};
use crate::meter::Meter;
use crate::program::{Instr, Program, INPUT};

/// The inputs of a run.
pub struct Inputs<'i, T> {
    /// The program's constants.
    pub consts: &'i [T],
    /// The term that `load` reads.
    pub context: T,
    /// The term that `var` reads.
    pub memory: T,
}

impl<'h, H: Heap> Vm<'h, H> {
    /// Creates a run at its start. `input`: the value the program starts with.
    pub fn start(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        input: Option<H::Term>,
        meter: Meter,
    ) -> Self {
        let mut slots = vec![heap.nil(); program.slots as usize];
        slots[INPUT as usize] = input.unwrap_or(slots[INPUT as usize]);
        let checkpoint = Checkpoint {
            pc: 0,
            loops: Vec::new(),
            has_input: input.is_some(),
            whole: false,
            segments: Vec::new(),
            work: None,
            failing: None,
            is_round: false,
        };
        let stack = Stack::thawed(heap.make_list(&[]), Vec::new());
        Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter)
    }

    /// Rebuilds a run from its frozen state; `None` if the terms do not fit the checkpoint.
    #[inline]
    pub fn thaw(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        frozen: Frozen<H::Term>,
        meter: Meter,
    ) -> Option<Self> {
        let Frozen { slots, stack, work } = frozen;
        let mut checkpoint = checkpoint;
        let whole = checkpoint.whole;
        let (work, failing) = match (checkpoint.work.take(), checkpoint.failing.take()) {
            (None, None) => work.is_empty().then_some((None, None))?,
            (Some(outline), _) => (Some(Work::thaw(heap, *outline, &work)?), None),
            (None, Some(outline)) => (None, Some(Failing::thaw(*outline, &work)?)),
        };
        (slots.len() == program.slots as usize).then_some(())?;
        let stack = Stack::thawed(stack, std::mem::take(&mut checkpoint.segments));
        let mut vm = Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter);
        vm.machine.work = work.map(Box::new);
        vm.failing = failing.map(Box::new);
        if whole {
            vm.machine.meter.next_step_whole();
        }
        Some(vm)
    }

    #[inline]
    fn assemble(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        slots: Vec<H::Term>,
        stack: Stack<H::Term>,
        meter: Meter,
    ) -> Self {
        Vm {
            program,
            context: inputs.context,
            memory: inputs.memory,
            machine: Machine::new(heap, program, meter, inputs.consts, slots, stack),
            pc: checkpoint.pc,
            loops: checkpoint.loops,
            has_input: checkpoint.has_input,
            watch: None,
            forks: false,
            is_round: checkpoint.is_round,
            round_is_over: false,
            is_broken: false,
            failing: None,
        }
    }

    /// Creates a run of one iteration of the loop at whose start a run stopped; its result is the
    /// body's value. `None` if the run did not stop there.
    pub fn round(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        left: &Checkpoint,
        mut slots: Vec<H::Term>,
        item: H::Term,
        meter: Meter,
    ) -> Option<Self> {
        let Some(Instr::Enter(enter)) = program.code.get(left.pc as usize) else {
            return None;
        };
        (slots.len() == program.slots as usize).then_some(())?;
        let nothing = heap.make_list(&[]);
        slots[enter.item as usize] = item;
        slots[enter.item as usize + 1] = nothing;
        let checkpoint = Checkpoint {
            pc: left.pc + 1,
            loops: Vec::new(),
            has_input: left.has_input,
            whole: false,
            segments: Vec::new(),
            work: None,
            failing: None,
            is_round: true,
        };
        let stack = Stack::thawed(nothing, Vec::new());
        let vm = Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter);
        Some(vm)
    }

    /// Freezes the run; [`Vm::thaw`] rebuilds it in another call of the heap.
    #[inline]
    pub fn freeze(mut self) -> (Checkpoint, Frozen<H::Term>) {
        let (segments, stack) = self.machine.stack.freeze(self.machine.heap);
        let (mut outline, mut failing, mut work) = (None, None, Vec::new());
        if let Some(left) = self.failing.take() {
            let (left, terms) = left.freeze();
            (failing, work) = (Some(Box::new(left)), terms);
        } else if let Some(left) = self.machine.work.take() {
            let (left, terms) = left.freeze(self.machine.heap);
            (outline, work) = (Some(Box::new(left)), terms);
        }
        let checkpoint = Checkpoint {
            pc: self.pc,
            loops: self.loops,
            has_input: self.has_input,
            whole: !self.machine.meter.has_advanced(),
            segments,
            work: outline,
            failing,
            is_round: self.is_round,
        };
        let slots = self.machine.slots;
        (checkpoint, Frozen { slots, stack, work })
    }

    /// Returns the value of `memory` at `key`, which the program starts with, if the program
    /// reads it.
    pub fn input_of(
        program: &Program,
        heap: &mut H,
        memory: H::Term,
        key: &[u8],
    ) -> Option<H::Term> {
        if !program.reads_input || heap.map_size(memory).unwrap_or(0) == 0 {
            return None;
        }
        let key = heap.make_string(key);
        match heap.lookup(memory, key, &mut H::KeyCache::default()) {
            Lookup::Found(value) => Some(value),
            _ => None,
        }
    }
}
