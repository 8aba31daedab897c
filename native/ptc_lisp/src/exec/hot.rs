//! The most frequent instructions of the language. They are apart from the others, so that the loop of the machine has them in its own code.

use super::own;
use crate::code::{Halt, Instr, InstrOperand, Lisp, Machine, OperandPlace, Own};
use crate::families::numbers;
use crate::fault::Fault;
use crate::look::{look_up, Found};
use crate::values::{class, is_const, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_vm::program::{ConstId, Pc};
use ptc_vm::{Halt as VmHalt, Vm};

/// Executes an instruction; returns the next address.
#[inline(always)]
pub fn execute<H: Heap>(vm: &mut Vm<'_, H, Lisp>, own: &Own) -> Result<Pc, Halt<H>> {
    let next = vm.pc() + 1;
    let m = vm.parts().0;
    match *own {
        Own::Arithmetic {
            op,
            left,
            right,
            to,
        } => {
            let operands = [operand(m, left), operand(m, right)];
            let code = &m.program().code;
            // A test behind it takes the truth as it is.
            if let Instr::JumpIf { when, to: other } = code[to as usize] {
                if let Some(truth) = numbers::comparison(m, op, operands) {
                    if left.is_top() || right.is_top() {
                        m.drop_top(1);
                    }
                    return Ok(if truth == when { other } else { to + 1 });
                }
            }
            if let Some(value) = numbers::arithmetic(m, op, operands) {
                m.check_heap_limit(0)?;
                if left.is_top() || right.is_top() {
                    m.drop_top(1);
                }
                m.push(value);
                return Ok(to);
            }
        }
        Own::Visit { slot, item, to } => match m.heap.uncons(m.slot(slot)) {
            Some((next, rest)) => {
                m.set_slot(slot, rest);
                m.set_slot(item, next);
            }
            None => return Ok(to),
        },
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
        _ => return own::execute(vm, own),
    }
    Ok(next)
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
    VmHalt::fault(Fault::of("unbound", own::text_of(m, name), Vec::new()))
}
