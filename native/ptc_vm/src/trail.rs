//! Where a run is when something fails: the addresses of its innermost instruction and of the calls around it.

use crate::activations::{Caller, Returning};
use crate::execute::Execute;
use crate::language::Language;
use crate::program::Pc;
use crate::run::Vm;
use crate::state::State;
use ptc_term::heap::Heap;

/// Number of addresses that are told. A recursion has few different ones.
const MOST: usize = 16;
/// Number of callers that are looked at for them.
const CALLERS: usize = 1_024;

/// Returns the addresses of an instruction and of the calls around it, the innermost first, each once.
fn addresses(own: Option<Pc>, callers: &[Caller]) -> Vec<Pc> {
    let calls = callers.iter().rev().take(CALLERS);
    let calls = calls.filter_map(|caller| match caller {
        Caller::Code { back, .. } => back.checked_sub(1),
        Caller::BuiltIn => None,
    });
    let mut all = Vec::new();
    for address in own.into_iter().chain(calls) {
        if all.len() == MOST {
            break;
        }
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all
}

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Returns where the run is that has failed. Where a built-in has failed that calls functions, that is where it was called.
    pub fn trail(&self) -> Vec<Pc> {
        let is_in_code = matches!(
            self.returning,
            Returning::Nothing | Returning::Enters(_, true)
        );
        addresses(is_in_code.then_some(self.pc), &self.callers)
    }
}

impl<L: Language, T: Copy> State<L, T> {
    /// Returns where the run waits for the answer to a call, if no handler would catch the error of that call.
    pub fn trail_of_call(&self) -> Vec<Pc> {
        let call = self.pc.checked_sub(1);
        match &self.activations {
            None => addresses(call, &[]),
            Some(around) if !around.handlers.is_empty() => Vec::new(),
            Some(around) => {
                let is_in_code = around.returning == Returning::Nothing;
                addresses(call.filter(|_| is_in_code), &around.callers)
            }
        }
    }
}
