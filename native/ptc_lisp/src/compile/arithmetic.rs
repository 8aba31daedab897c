//! Arithmetic and comparison with locals and numbers: one instruction in the place of several.
//!
//! It is tried first. Behind it stands what any call is compiled to, for operands that are no small numbers.

use super::invoke::apply;
use super::task::CompileTask;
use super::Compiler;
use crate::ast::{Expr, ExprId, Literal};
use crate::code::{Instr, InstrOperand, OperandPlace, Own};
use crate::families::numbers::is_arithmetic;
use crate::table::Builtin;

impl Compiler<'_> {
    /// Compiles a call with at least one operand that is a local or a number; returns false for any other call.
    pub(super) fn arithmetic(&mut self, builtin: Builtin, arguments: &[ExprId]) -> bool {
        let operands = match (builtin, arguments) {
            (Builtin::Inc | Builtin::Dec, &[value]) => {
                let one = self.constants.literal(&Literal::Int(1));
                let change = match builtin {
                    Builtin::Inc => Builtin::Add,
                    _ => Builtin::Subtract,
                };
                let one = InstrOperand::at(OperandPlace::Const(one));
                Some((change, self.operand(value), one))
            }
            (_, &[left, right]) if is_arithmetic(builtin) => {
                Some((builtin, self.operand(left), self.operand(right)))
            }
            _ => None,
        };
        let Some((op, left, right)) = operands else {
            return false;
        };
        let top = InstrOperand::at(OperandPlace::Top);
        let (Some(left_at), Some(right_at)) = (left.or(top), right.or(top)) else {
            return false;
        };
        if left_at.is_top() && right_at.is_top() {
            return false;
        }
        let before = self.current.next_slot;
        let to = self.label();
        let tried = CompileTask::Emit(Instr::Own(Own::Arithmetic {
            op,
            left: left_at,
            right: right_at,
            to,
        }));
        let mut tasks = Vec::with_capacity(8);
        if left_at.is_top() {
            tasks.extend([CompileTask::Expr(arguments[0]), tried]);
            tasks.extend(arguments[1..].iter().map(|it| CompileTask::Expr(*it)));
        } else if right_at.is_top() {
            let slot = self.slot();
            tasks.extend([
                CompileTask::Expr(arguments[1]),
                tried,
                CompileTask::Store(slot),
                CompileTask::Expr(arguments[0]),
                CompileTask::Emit(Instr::Slot(slot)),
            ]);
        } else {
            tasks.push(tried);
            tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
        }
        tasks.extend([
            CompileTask::Emit(apply(builtin, arguments.len() as u32)),
            CompileTask::Place(to),
            CompileTask::Leave(before),
        ]);
        self.then(tasks);
        true
    }

    /// Where an operand is, if it is a local or a number.
    fn operand(&mut self, id: ExprId) -> Option<InstrOperand> {
        if let Some(slot) = self.slot_of_local(id) {
            return InstrOperand::at(OperandPlace::Slot(slot));
        }
        match &self.source.exprs[id as usize] {
            Expr::Const(number @ (Literal::Int(_) | Literal::Large(_) | Literal::Float(_))) => {
                InstrOperand::at(OperandPlace::Const(self.constants.literal(number)))
            }
            _ => None,
        }
    }
}
