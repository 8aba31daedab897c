//! Running programs: the instructions of the language, function values, and the result.

mod asking;
pub mod checks;
mod collections;
pub mod convert;
pub mod enter;
pub mod finish;
mod functions;
mod hot;
mod named;
mod other;
pub mod revive;
pub mod scan;
pub mod spread;
pub mod states;
mod top;
mod unchanged;

use crate::code::{Eval, Halt, Instr, Lisp, Machine, Other, Own};
use crate::families;
use crate::fault::Fault;
use crate::table::Builtin;
use crate::work::Work;
use ptc_kernels::Tally;
use ptc_term::heap::Heap;
use ptc_vm::language::Contained;
use ptc_vm::program::{Apply, ConstId, Loop, Pc, Slot, NO_CONST};
use ptc_vm::{Entered, Execute, Frame, Next, Step, Stepped, Vm};

impl Execute for Lisp {
    const CALLS_AHEAD: bool = true;
    const TELLS_PLACES: bool = true;

    fn eval<H: Heap>(m: &mut Machine<'_, H>, apply: &Apply<Lisp>) -> Eval<H> {
        call_on_top(m, apply.op, apply.operands as usize)
    }

    fn expect<H: Heap>(_m: &mut Machine<'_, H>, _op: Builtin, _input: Slot) -> Result<(), Halt<H>> {
        Ok(())
    }

    fn tally(_op: Builtin) -> Option<Tally> {
        None
    }

    // No instruction of the language is an operation with a body: loops are jumps, and functions are called.
    fn step<H: Heap>(
        m: &mut Machine<'_, H>,
        _looped: &Loop<Lisp>,
        _frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
    ) -> Stepped<H, Lisp> {
        Ok(Step::Done(returned.unwrap_or(m.heap.nil())))
    }

    fn constants_in(apply: &Apply<Lisp>) -> Contained {
        match apply.value {
            NO_CONST => Contained::Nothing,
            _ => Contained::Any,
        }
    }

    fn forks(_op: Builtin) -> bool {
        false
    }

    fn collects_answer(code: &[Instr], pc: Pc) -> Option<Pc> {
        let to = match code.get(pc as usize..pc as usize + 2)? {
            [Instr::Own(Own::Collect(_)) | Instr::Drop, Instr::Jump(to)] => *to,
            _ => return None,
        };
        match code.get(to as usize)? {
            Instr::Own(Own::Other(Other::NextItem { to, .. }) | Own::Visit { to, .. }) => Some(*to),
            _ => None,
        }
    }

    #[inline(always)]
    fn execute<H: Heap>(vm: &mut Vm<'_, H, Lisp>, own: &Own) -> Result<Pc, Halt<H>> {
        hot::execute(vm, own)
    }

    fn missing<H: Heap>(
        &self,
        m: &mut Machine<'_, H>,
        _context: H::Term,
        _key: ConstId,
    ) -> Eval<H> {
        Ok(m.heap.nil())
    }

    fn enter<H: Heap>(
        m: &mut Machine<'_, H>,
        function: H::Term,
        arguments: u32,
    ) -> Result<Entered<Lisp, H::Term>, Halt<H>> {
        enter::enter(m, function, arguments)
    }

    #[inline(always)]
    fn code_of<H: Heap>(
        m: &Machine<'_, H>,
        function: H::Term,
        arguments: u32,
    ) -> Option<(Pc, u32)> {
        enter::code_of(m, function, arguments)
    }

    fn call_back<H: Heap>(
        m: &mut Machine<'_, H>,
        work: &mut Work<H::Term>,
        returned: Option<H::Term>,
    ) -> Result<Next<H::Term>, Halt<H>> {
        match work {
            Work::Calls(state) => families::calls::step(m, state, returned),
            Work::Functions(state) => families::functions::step(m, state, returned),
            // No other state is that of a built-in which calls.
            _ => Ok(Next::Done(returned.unwrap_or(m.heap.nil()))),
        }
    }

    // What a form says of its own arguments is no error of a worker.
    fn guarded<'p, T>(fault: &mut Fault<T>, handlers: impl Iterator<Item = &'p Instr>) {
        let mut forms = handlers.filter_map(|handler| match handler {
            Instr::Own(Own::Other(Other::WorkerFailed { form })) => Some(form.name()),
            _ => None,
        });
        let own = [
            "pmap_of_map",
            "pmap_function",
            "pmap_collection",
            "thunk",
            "thunk_arity",
        ];
        let skipped = usize::from(own.contains(&fault.code));
        fault.inside = fault.inside.or(forms.nth(skipped));
    }

    fn fail<H: Heap>(_m: &mut Machine<'_, H>, _failure: &()) -> Fault<H::Term> {
        Fault::of("unreachable", "program", Vec::new())
    }
}

/// Evaluates a built-in with so many arguments, which are on the stack and stay there.
#[inline]
fn call_on_top<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, count: usize) -> Eval<H> {
    let top = m.top_values(count);
    // Most calls have few arguments, which need no memory.
    if let Ok(few) = <[H::Term; 1]>::try_from(top) {
        return families::call(m, builtin, &few);
    }
    if let Ok(few) = <[H::Term; 2]>::try_from(top) {
        return match families::numbers::quick(m, builtin, few) {
            Some(value) => Ok(value),
            None => families::call(m, builtin, &few),
        };
    }
    if let Ok(few) = <[H::Term; 3]>::try_from(top) {
        return families::call(m, builtin, &few);
    }
    let many = top.to_vec();
    families::call(m, builtin, &many)
}
