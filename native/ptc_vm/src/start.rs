//! How an execution of a run starts and ends.

use crate::activations::Activations;
use crate::execute::Execute;
use crate::globals::Globals;
use crate::machine::Machine;
use crate::program::Program;
use crate::run::Vm;
use crate::slots::Slots;
use crate::state::State;
use ptc_term::heap::{Heap, Lookup};
use ptc_term::meter::Meter;

/// The inputs of a run.
pub struct Inputs<'i, T> {
    /// The program's constants.
    pub consts: &'i [T],
    /// The context: the data of the run.
    pub context: T,
    /// The environment: what the program reads besides its data, in the form that its language gives it. In PTC-JSON it is the memory.
    pub environment: T,
}

impl<'h, H: Heap, L: Execute> Vm<'h, H, L> {
    /// Prepares an execution from a state of the program on.
    #[inline]
    pub fn new(
        program: &'h Program<L>,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        state: State<L, H::Term>,
        mut meter: Meter,
    ) -> Self {
        if state.whole {
            meter.next_step_whole();
        }
        let Activations {
            below,
            callers,
            built_ins,
            returning,
            globals,
            handlers,
        } = match state.activations {
            Some(activations) => *activations,
            None => Activations::new(Globals::new(0), heap),
        };
        let slots = Slots::new(state.slots, below);
        let data = (slots, state.stack, state.work, state.counting);
        let mut machine = Machine::new(heap, program, meter, inputs.consts, data, globals);
        machine.multiplies |= state.multiplies;
        Vm {
            program,
            context: inputs.context,
            environment: inputs.environment,
            machine,
            pc: state.pc,
            frames: state.frames,
            callers,
            built_ins,
            returning,
            has_input: state.has_input,
            watch: None,
            forks: false,
            is_round: state.is_round,
            ends_at: state.ends_at,
            ends_in: state.ends_in,
            turn: state.turn,
            is_broken: false,
            failing: state.failing,
            handlers,
        }
    }

    /// Ends the execution. Another one can go on from the state, also in another call of the heap if it was
    /// [frozen](ptc_term::suspend::freeze) and thawed between them.
    #[inline]
    pub fn into_state(self) -> State<L, H::Term> {
        self.into_parts().0
    }

    /// Ends the execution. Returns the state and the meter.
    #[inline]
    pub fn into_parts(self) -> (State<L, H::Term>, Meter) {
        let Machine {
            context,
            slots,
            stack,
            work,
            counting,
            multiplies,
            globals,
            ..
        } = self.machine;
        let (slots, below) = slots.into_parts();
        let activations = Activations {
            below,
            callers: self.callers,
            built_ins: self.built_ins,
            returning: self.returning,
            globals,
            handlers: self.handlers,
        };
        let state = State {
            pc: self.pc,
            has_input: self.has_input,
            is_round: self.is_round,
            ends_at: self.ends_at,
            ends_in: self.ends_in,
            turn: self.turn,
            whole: !context.meter.has_advanced(),
            multiplies,
            slots,
            stack,
            activations: activations.kept(),
            frames: self.frames,
            work,
            counting,
            failing: self.failing,
        };
        (state, context.meter)
    }

    /// Returns the value of a memory at `key`, which the program starts with, if the program
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
