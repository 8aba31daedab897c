//! How a run starts, and how it is frozen and thawed.

use super::checkpoint::{Checkpoint, Frozen};
use super::failing::Failing;
use super::frame::Frame;
use super::machine::Machine;
use super::run::Vm;
use super::stack::Stack;
use crate::heap::{Heap, Lookup};
use crate::language::Language;
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

impl<'h, H: Heap, L: Language> Vm<'h, H, L> {
    /// Creates a run at its start. `input`: the value the program starts with.
    pub fn start(
        program: &'h Program<L>,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        input: Option<H::Term>,
        meter: Meter,
    ) -> Self {
        let mut slots = vec![heap.nil(); program.slots as usize];
        slots[INPUT as usize] = input.unwrap_or(slots[INPUT as usize]);
        let checkpoint = Checkpoint {
            pc: 0,
            frames: Vec::new(),
            has_input: input.is_some(),
            whole: false,
            segments: Vec::new(),
            failing: None,
            is_round: false,
        };
        let stack = Stack::thawed(heap.make_list(&[]), Vec::new());
        Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter)
    }

    /// Rebuilds a run from its frozen state; `None` if the terms do not fit the checkpoint.
    #[inline]
    pub fn thaw(
        program: &'h Program<L>,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        frozen: Frozen<H::Term>,
        meter: Meter,
    ) -> Option<Self> {
        let mut checkpoint = checkpoint;
        let whole = checkpoint.whole;
        let mut terms = frozen.frames.into_iter();
        let mut frames = Vec::with_capacity(checkpoint.frames.len());
        for outline in std::mem::take(&mut checkpoint.frames) {
            frames.push(Frame::thaw(heap, outline, &mut terms)?);
        }
        let failing = match checkpoint.failing.take() {
            Some(outline) => Some(Box::new(Failing::thaw(*outline, &mut terms)?)),
            None => None,
        };
        let has_all = terms.next().is_none() && frozen.slots.len() == program.slots as usize;
        has_all.then_some(())?;
        frames.reverse();
        let evaluation = frames.pop_if(|frame| frame.at == checkpoint.pc);
        let stack = Stack::thawed(frozen.stack, std::mem::take(&mut checkpoint.segments));
        let mut vm = Self::assemble(
            program,
            heap,
            inputs,
            checkpoint,
            frozen.slots,
            stack,
            meter,
        );
        vm.machine.work = evaluation.and_then(|frame| frame.work);
        vm.frames = frames;
        vm.failing = failing;
        if whole {
            vm.machine.meter.next_step_whole();
        }
        Some(vm)
    }

    #[inline]
    fn assemble(
        program: &'h Program<L>,
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
            frames: Vec::new(),
            has_input: checkpoint.has_input,
            watch: None,
            forks: false,
            is_round: checkpoint.is_round,
            is_broken: false,
            failing: None,
        }
    }

    /// Creates a run of one iteration of the loop at whose start a run stopped; its result is the
    /// body's value. `None` if the run did not stop there.
    pub fn round(
        program: &'h Program<L>,
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
        let checkpoint = Checkpoint {
            pc: left.pc + 1,
            frames: Vec::new(),
            has_input: left.has_input,
            whole: false,
            segments: Vec::new(),
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
        let mut terms = Vec::with_capacity(2 * self.frames.len());
        if let Some(evaluation) = self.machine.work.take() {
            let mut frame = Frame::over(self.machine.heap.nil(), self.pc);
            frame.work = Some(evaluation);
            self.frames.push(frame);
        }
        let frames = self.frames.into_iter().rev();
        let frames = frames.map(|frame| frame.freeze(self.machine.heap, &mut terms));
        let frames = frames.collect();
        let failing = self.failing.map(|failing| failing.freeze(&mut terms));
        let checkpoint = Checkpoint {
            pc: self.pc,
            frames,
            has_input: self.has_input,
            whole: !self.machine.meter.has_advanced(),
            segments,
            failing: failing.map(Box::new),
            is_round: self.is_round,
        };
        let slots = self.machine.slots;
        let frozen = Frozen {
            slots,
            stack,
            frames: terms,
        };
        (checkpoint, frozen)
    }

    /// Returns the value of `memory` at `key`, which the program starts with, if the program
    /// reads it.
    pub fn input_of(
        program: &Program<L>,
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
