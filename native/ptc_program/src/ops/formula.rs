//! Arithmetic on two fields, constants or slots as one instruction. In the body of a tally it goes on from item to item, and
//! no number becomes a term.
//!
//! Whatever is not simple is left to the instructions that it stands for: sides that are no numbers of 64 bits, values that
//! are none, the last item of a list.

use crate::code::{Formula, Halt, Machine, Pc, Side, Slot, Vm, NO_PC};
use crate::opcode::OpCode;
use ptc_kernels::Tally;
use ptc_term::heap::{Heap, Lookup};
use ptc_term::number::Number;
use ptc_vm::language::Flow;

/// Fuel for the instructions that it stands for, beyond the first one.
const OTHERS: usize = 2;
/// Fuel for an item of a tally: those three, and the end of the body.
const ITEM: usize = 4;

/// A number of 64 bits.
#[derive(Clone, Copy)]
enum Short {
    Int(i64),
    Float(f64),
}

impl Short {
    fn float(self) -> f64 {
        match self {
            Short::Int(value) => value as f64,
            Short::Float(value) => value,
        }
    }

    fn of(float: f64) -> Option<Self> {
        float.is_finite().then_some(Short::Float(float))
    }

    fn number(self) -> Number {
        match self {
            Short::Int(value) => Number::Int(value),
            Short::Float(value) => Number::Float(value),
        }
    }
}

/// Returns whether [`compute`] knows an operation.
pub(crate) fn is_computed(op: OpCode) -> bool {
    matches!(op, OpCode::Add | OpCode::Sub | OpCode::Mul | OpCode::Div)
}

/// Returns `left op right` if that is a number of 64 bits.
#[inline(always)]
fn compute(op: OpCode, left: Short, right: Short) -> Option<Short> {
    if let (Short::Int(left), Short::Int(right)) = (left, right) {
        match op {
            OpCode::Add => return left.checked_add(right).map(Short::Int),
            OpCode::Sub => return left.checked_sub(right).map(Short::Int),
            OpCode::Mul => return left.checked_mul(right).map(Short::Int),
            _ => {}
        }
    }
    let (left, right) = (left.float(), right.float());
    match op {
        OpCode::Add => Short::of(left + right),
        OpCode::Sub => Short::of(left - right),
        OpCode::Mul => Short::of(left * right),
        OpCode::Div if right != 0.0 => Short::of(left / right),
        _ => None,
    }
}

#[inline(always)]
fn short<H: Heap>(
    machine: &mut Machine<'_, H>,
    side: Side,
) -> Result<Option<Short>, Halt<H::Term>> {
    let term = match side {
        Side::Field(slot, key) => {
            let map = machine.slot(slot);
            match machine.lookup(map, key)? {
                Lookup::Found(value) => value,
                Lookup::Missing | Lookup::NotAMap => return Ok(None),
            }
        }
        Side::Const(id) => machine.constant(id),
        Side::Slot(slot) => machine.slot(slot),
    };
    Ok(match machine.heap.small_integer(term) {
        Some(value) => Some(Short::Int(value)),
        None => machine.heap.float(term).map(Short::Float),
    })
}

#[inline(always)]
fn value<H: Heap>(
    machine: &mut Machine<'_, H>,
    formula: &Formula,
) -> Result<Option<Short>, Halt<H::Term>> {
    let (Some(left), Some(right)) = (
        short(machine, formula.left)?,
        short(machine, formula.right)?,
    ) else {
        return Ok(None);
    };
    Ok(compute(formula.op, left, right))
}

/// Evaluates the formula; returns the address of the next instruction.
pub(super) fn run<H: Heap>(vm: &mut Vm<'_, H>, formula: &Formula) -> Result<Pc, Halt<H::Term>> {
    let value = match formula.tallied_by {
        NO_PC => value(vm.parts().0, formula)?,
        start => tally(vm, formula, start)?,
    };
    let machine = vm.parts().0;
    if let Some(value) = value {
        machine.consume_fuel(OTHERS)?;
        if let Some(term) = machine.heap.make_number(value.number()) {
            machine.check_heap_limit(0)?;
            machine.push(term);
            return Ok(formula.at + 3);
        }
    }
    let left = match formula.left {
        Side::Field(slot, key) => {
            let map = machine.slot(slot);
            machine.value_or_nil(map, key)?
        }
        Side::Const(id) => machine.constant(id),
        Side::Slot(slot) => machine.slot(slot),
    };
    machine.push(left);
    Ok(formula.at + 1)
}

/// Adds the values for the current item and those after it to the tally of their loop. Returns the value for the item at
/// which it ends, which is not added: that of the last one, or the first one that is not added so simply.
fn tally<H: Heap>(
    vm: &mut Vm<'_, H>,
    formula: &Formula,
    start: Pc,
) -> Result<Option<Short>, Halt<H::Term>> {
    let (machine, frame, looped) = match vm.innermost() {
        (machine, Some((frame, looped))) if frame.at == start => (machine, frame, looped),
        (machine, _) => return value(machine, formula),
    };
    let (sum, mut count) = match &mut frame.progress.tally {
        Some(Tally::Sum(sum)) => (sum, None),
        Some(Tally::Mean(sum, count)) => (sum, Some(count)),
        Some(Tally::Count(_) | Tally::Exact(_)) | None => return value(machine, formula),
    };
    loop {
        let value = value(machine, formula)?;
        let following = machine.heap.uncons(frame.walk.rest);
        let (Some(number), Some((item, rest))) = (value, following) else {
            return Ok(value);
        };
        machine.consume_fuel(ITEM)?;
        if !add(sum, number) {
            return Ok(value);
        }
        if let Some(count) = &mut count {
            **count += 1;
        }
        machine.set_slot(looped.item, item);
        frame.walk.rest = rest;
        machine.meter.advanced();
    }
}

/// Adds a number to a sum of 64 bits, if the result has 64 bits, too.
#[inline(always)]
fn add(sum: &mut Number, number: Short) -> bool {
    let so_far = match sum {
        Number::Int(sum) => Short::Int(*sum),
        Number::Float(sum) => Short::Float(*sum),
        Number::Big(_) => return false,
    };
    let Some(more) = compute(OpCode::Add, so_far, number) else {
        return false;
    };
    *sum = more.number();
    true
}

/// Returns what it reads, beside what the instructions that follow it read, and where the run goes on.
pub(super) fn flow(formula: &Formula) -> Flow {
    let slot: Slot = match (formula.left, formula.right) {
        (Side::Field(slot, _) | Side::Slot(slot), _) => slot,
        (_, Side::Field(slot, _) | Side::Slot(slot)) => slot,
        (Side::Const(_), Side::Const(_)) => crate::code::INPUT,
    };
    Flow {
        reads: slot,
        next: Some(formula.at + 1),
        branch: None,
        depth: (0, 1),
    }
}
