//! Loops over a list whose body is one look-up, one calculation or both: many items are passed in one instruction.
//!
//! The instructions of the body stand behind the [`Scan`](Own::Scan) as in every loop, and say what it does. An item that is not like most, for
//! example a row without the keys of the one before it, runs through them.

use crate::code::{Halt, Instr, InstrOperand, Machine, OperandPlace, Own};
use crate::families::numbers;
use crate::table::Builtin;
use ptc_term::heap::Heap;
use ptc_vm::program::{ConstId, Pc, Slot};

/// Number of items that are passed in one execution of the instruction.
const BATCH: usize = 128;

/// What a body does, read from its instructions.
struct Body {
    /// The key whose value is taken of an item; `None` if it is the item itself.
    key: Option<ConstId>,
    /// What is calculated with that.
    calculation: Option<Calculation>,
    end: End,
}

/// A calculation with the item, or with its value at a key.
struct Calculation {
    op: Builtin,
    /// `None` for the item.
    left: Option<InstrOperand>,
    right: Option<InstrOperand>,
}

/// What becomes of the value.
#[derive(Clone, Copy)]
enum End {
    /// The item is put in front of the list in this slot, unless the value's truth is the first field.
    Filter(bool, Slot),
    /// The value is put in front of the list in this slot.
    Collect(Slot),
    /// The value is stored in this slot.
    Store(Slot),
}

/// Whether the body behind a [`Visit`](Own::Visit) at this address can be passed so.
pub fn is_scan(code: &[Instr], at: Pc) -> bool {
    match code.get(at as usize) {
        Some(Instr::Own(Own::Visit { item, .. })) => body(code, at, *item).is_some(),
        _ => false,
    }
}

/// Reads the body of the loop that begins at this address.
#[inline]
fn body(code: &[Instr], at: Pc, item: Slot) -> Option<Body> {
    let instr = |at: Pc| code.get(at as usize);
    let (key, next) = match instr(at + 1)? {
        Instr::Own(Own::KeywordOf { slot, key }) if *slot == item => (Some(*key), at + 2),
        _ => (None, at + 1),
    };
    let (calculation, next) = match instr(next)? {
        Instr::Own(Own::Arithmetic {
            op,
            left,
            right,
            to,
        }) => {
            let calculation = Calculation {
                op: *op,
                left: other(*left, key.is_some(), item)?,
                right: other(*right, key.is_some(), item)?,
            };
            let uses_item = calculation.left.is_none() || calculation.right.is_none();
            (uses_item.then_some(calculation), *to)
        }
        _ => (None, next),
    };
    if key.is_none() && calculation.is_none() {
        return None;
    }
    let back = |place: Pc| matches!(instr(place), Some(Instr::Jump(to)) if *to == at);
    let end = match (instr(next)?, instr(next + 1)?) {
        (Instr::JumpIf { when, to }, Instr::Slot(slot)) if *to == at && *slot == item => {
            match instr(next + 2)? {
                Instr::Own(Own::Collect(kept)) if back(next + 3) => End::Filter(*when, *kept),
                _ => return None,
            }
        }
        (Instr::Own(Own::Collect(kept)), _) if back(next + 1) => End::Collect(*kept),
        (Instr::Store(slot), _) if back(next + 1) => End::Store(*slot),
        _ => return None,
    };
    Some(Body {
        key,
        calculation,
        end,
    })
}

/// An operand that is not the item, or not its value at the key: `Some(None)` if it is that, `None` if the body reads something else of the item.
fn other(operand: InstrOperand, has_key: bool, item: Slot) -> Option<Option<InstrOperand>> {
    match operand.place() {
        OperandPlace::Top => has_key.then_some(None),
        OperandPlace::Slot(slot) if slot == item => (!has_key).then_some(None),
        _ => Some(Some(operand)),
    }
}

/// Passes items of the list in a slot, which then has the others; the next item is put into its own slot for the instructions behind. Returns
/// the next address.
#[inline(never)]
pub fn scan<H: Heap>(
    m: &mut Machine<'_, H>,
    at: Pc,
    (slot, item, to): (Slot, Slot, Pc),
) -> Result<Pc, Halt<H>> {
    let Some(body) = body(&m.program().code, at, item) else {
        return Ok(visit(m, at, (slot, item, to)));
    };
    let mut rest = m.slot(slot);
    let mut passed = 0;
    // A row of a kind is known by the place of its keys.
    let known = (body.key).map(|key| m.cache.peek(key).and_then(|key| key.last));
    while passed < BATCH {
        let Some((row, tail)) = m.heap.uncons(rest) else {
            break;
        };
        let value = match known {
            None => Some(row),
            Some(None) => None,
            Some(Some((keys, place))) => match m.heap.flat(row) {
                Some((of_row, values)) if of_row.as_ptr() as usize == keys => match place {
                    Some(place) => values.get(place).copied(),
                    None => Some(m.heap.nil()),
                },
                _ => None,
            },
        };
        let Some(value) = value else { break };
        if !pass(m, &body, (row, value)) {
            break;
        }
        rest = tail;
        passed += 1;
    }
    m.set_slot(slot, rest);
    if passed > 0 {
        m.meter.advanced();
        m.consume_fuel(passed)?;
        m.check_heap_limit(0)?;
    }
    match passed == BATCH {
        true => Ok(at),
        false => Ok(visit(m, at, (slot, item, to))),
    }
}

/// Does what the body does with an item, and its value; returns whether it has.
#[inline(always)]
fn pass<H: Heap>(m: &mut Machine<'_, H>, body: &Body, (item, value): (H::Term, H::Term)) -> bool {
    let operands = body.calculation.as_ref().map(|it| {
        let read = |operand: Option<InstrOperand>| match operand.map(InstrOperand::place) {
            Some(OperandPlace::Slot(slot)) => m.slot(slot),
            Some(OperandPlace::Const(id)) => m.constant(id),
            _ => value,
        };
        (it.op, [read(it.left), read(it.right)])
    });
    let kept = match (body.end, operands) {
        (End::Filter(dropped, _), Some((op, operands))) => {
            let truth = match numbers::comparison(m, op, operands) {
                Some(truth) => truth,
                None => match numbers::arithmetic(m, op, operands) {
                    Some(value) => m.heap.truthy(value),
                    None => return false,
                },
            };
            if truth == dropped {
                return true;
            }
            item
        }
        (End::Filter(dropped, _), None) => {
            if m.heap.truthy(value) == dropped {
                return true;
            }
            item
        }
        (_, Some((op, operands))) => match numbers::arithmetic(m, op, operands) {
            Some(value) => value,
            None => return false,
        },
        (_, None) => value,
    };
    match body.end {
        End::Filter(_, into) | End::Collect(into) => {
            let list = m.slot(into);
            let list = m.heap.make_list_onto(&[kept], list);
            m.set_slot(into, list);
        }
        End::Store(slot) => m.set_slot(slot, kept),
    }
    true
}

/// Puts the next item of the list in a slot into another slot; returns the next address.
#[inline(always)]
pub fn visit<H: Heap>(m: &mut Machine<'_, H>, at: Pc, (slot, item, to): (Slot, Slot, Pc)) -> Pc {
    match m.heap.uncons(m.slot(slot)) {
        Some((next, rest)) => {
            m.set_slot(slot, rest);
            m.set_slot(item, next);
            at + 1
        }
        None => to,
    }
}
