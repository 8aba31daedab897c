//! The most frequent instructions of the language. They are apart from the others, so that the loop of the machine has them in its own code.

use super::{named, other, scan};
use crate::code::{Halt, Instr, InstrOperand, Lisp, Machine, OperandPlace, Own};
use crate::families::numbers;
use crate::fault::Fault;
use crate::look::{look_up, Found};
use crate::values::{class, is_const, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_vm::program::{ConstId, Pc};
use ptc_vm::{Halt as VmHalt, Vm};

/// Number of values that are stored together at most.
const STORED: usize = 4;

/// Executes an instruction; returns the next address.
#[inline(always)]
pub fn execute<H: Heap>(vm: &mut Vm<'_, H, Lisp>, own: &Own) -> Result<Pc, Halt<H>> {
    let next = vm.pc() + 1;
    let m = vm.parts().0;
    match *own {
        Own::Arithmetic { .. } => return arithmetic(m, next - 1),
        Own::Visit { slot, item, to } => return Ok(scan::visit(m, next - 1, (slot, item, to))),
        Own::Scan { slot, item, to } => return scan::scan(m, next - 1, (slot, item, to)),
        Own::KeywordOf { slot, key } => {
            let coll = m.slot(slot);
            let value = called_key(m, coll, key)?.unwrap_or(m.heap.nil());
            m.push(value);
        }
        Own::Collect(slot) => {
            let item = m.pop();
            let list = m.slot(slot);
            let list = m.heap.make_list_onto(&[item], list);
            m.set_slot(slot, list);
            // Mostly the next round begins.
            if let Instr::Jump(to) = m.program().code[next as usize] {
                return Ok(to);
            }
        }
        Own::Global {
            global,
            name,
            fallback,
        } => {
            let value = match m.globals.get(global) {
                Some(value) => value,
                None if is_const(fallback) => m.constant(fallback),
                None => return Err(unbound(m, name)),
            };
            m.push(value);
        }
        // One way out of the loop for all others: a second one made the loop slower.
        Own::Entry { .. } | Own::IfBound { .. } | Own::Field { .. } | Own::Other(_) => {
            return other::execute(vm, own)
        }
    }
    Ok(next)
}

/// Executes arithmetic of small numbers at an address, and all that follows without anything else between: an instruction that is
/// executed here is not looked for in the loop of the machine. Returns the next address.
#[inline(always)]
fn arithmetic<H: Heap>(m: &mut Machine<'_, H>, first: Pc) -> Result<Pc, Halt<H>> {
    let code = &m.program().code;
    let mut at = first;
    while let Instr::Own(Own::Arithmetic {
        op,
        left,
        right,
        to,
    }) = code[at as usize]
    {
        let operands = [operand(m, left), operand(m, right)];
        let takes_top = left.is_top() || right.is_top();
        let next = match (&code[to as usize], numbers::comparison(m, op, operands)) {
            // A test behind it takes the truth as it is.
            (Instr::JumpIf { when, to: other }, Some(truth)) => {
                m.drop_top(usize::from(takes_top));
                if truth == *when {
                    *other
                } else {
                    to + 1
                }
            }
            _ => {
                let Some(value) = numbers::arithmetic(m, op, operands) else {
                    return Ok(at + 1);
                };
                if let Err(stop) = m.check_heap_limit(0) {
                    // Only the instruction at which the machine is may stop the run.
                    return if at == first {
                        Err(stop.into())
                    } else {
                        Ok(at)
                    };
                }
                m.drop_top(usize::from(takes_top));
                store(m, value, to)
            }
        };
        match code[next as usize] {
            Instr::Own(Own::Arithmetic { .. }) if m.meter.begins() => at = next,
            _ => return Ok(next),
        }
    }
    Ok(at)
}

/// Passes a value on to an address: into a slot if it is stored there, with the values below it that are stored as well, else onto the
/// stack. Returns the next address.
#[inline(always)]
fn store<H: Heap>(m: &mut Machine<'_, H>, value: H::Term, to: Pc) -> Pc {
    let code = &m.program().code;
    let Instr::Store(slot) = code[to as usize] else {
        m.push(value);
        return to;
    };
    m.set_slot(slot, value);
    let mut next = to + 1;
    for _ in 0..STORED {
        let Instr::Store(slot) = code[next as usize] else {
            break;
        };
        let value = m.pop();
        m.set_slot(slot, value);
        next += 1;
    }
    match code[next as usize] {
        Instr::Jump(to) => to,
        _ => next,
    }
}

#[inline(always)]
fn operand<H: Heap>(m: &mut Machine<'_, H>, operand: InstrOperand) -> H::Term {
    match operand.place() {
        OperandPlace::Slot(slot) => m.slot(slot),
        OperandPlace::Const(id) => m.constant(id),
        OperandPlace::Top => m.top(),
    }
}

/// Returns what a keyword that is called finds in a value.
#[inline]
pub fn called_key<H: Heap>(
    m: &mut Machine<'_, H>,
    coll: H::Term,
    key: ConstId,
) -> Result<Option<H::Term>, Halt<H>> {
    let found = match m.heap.kind(coll) {
        Kind::Map => look_up(m, coll, key)?,
        _ => Found::Missing,
    };
    if matches!(found, Found::NoKeys) {
        return without_keys(m, coll);
    }
    Ok(found.value())
}

#[cold]
fn without_keys<H: Heap>(
    m: &mut Machine<'_, H>,
    coll: H::Term,
) -> Result<Option<H::Term>, Halt<H>> {
    match class(m, coll) {
        Class::Struct => {
            let fault = Fault::of("struct_without_keys", "keyword", vec![coll]);
            Err(VmHalt::fault(fault))
        }
        _ => Ok(None),
    }
}

#[cold]
fn unbound<H: Heap>(m: &Machine<'_, H>, name: ConstId) -> Halt<H> {
    VmHalt::fault(Fault::of("unbound", named::text_of(m, name), Vec::new()))
}
