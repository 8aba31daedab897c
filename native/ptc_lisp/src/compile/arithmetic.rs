//! Arithmetic and comparison of locals and numbers: one instruction in the place of three.
//!
//! It is tried first. Behind it stands what any call is compiled to, for operands that are no small numbers.

use super::expr::apply;
use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, Literal};
use crate::code::{Instr, InstrOperand, OperandPlace, Own};
use crate::families::numbers::is_arithmetic;
use crate::table::Builtin;

impl Compiler<'_> {
    /// Compiles a call with operands of this kind; returns false for any other call.
    pub(super) fn arithmetic(&mut self, builtin: Builtin, arguments: &[ExprId]) -> bool {
        let operands = match (builtin, arguments) {
            (Builtin::Inc | Builtin::Dec, [value]) => {
                let one = self.constants.literal(&Literal::Int(1.into()));
                let change = match builtin {
                    Builtin::Inc => Builtin::Add,
                    _ => Builtin::Subtract,
                };
                let one = InstrOperand::at(OperandPlace::Const(one));
                let value = one.and_then(|_| self.operand(*value));
                value.zip(one).map(|(value, one)| (change, value, one))
            }
            (_, [left, right]) if is_arithmetic(builtin) => {
                let left = self.operand(*left);
                let right = left.and_then(|_| self.operand(*right));
                left.zip(right).map(|(left, right)| (builtin, left, right))
            }
            _ => None,
        };
        let Some((op, left, right)) = operands else {
            return false;
        };
        let to = self.label();
        let tried = Own::Arithmetic {
            op,
            left,
            right,
            to,
        };
        let mut tasks = vec![CompileTask::Emit(Instr::Own(tried))];
        tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
        tasks.extend([
            CompileTask::Emit(apply(builtin, arguments.len() as u32)),
            CompileTask::Place(to),
        ]);
        self.then(tasks);
        true
    }

    /// Where an operand is, if it is a local or a number.
    fn operand(&mut self, id: ExprId) -> Option<InstrOperand> {
        match &self.source.exprs[id as usize] {
            Expr::Local(local) => match self.current.places.get(local) {
                Some(LocalPlace::Slot(slot)) => InstrOperand::at(OperandPlace::Slot(*slot)),
                _ => None,
            },
            Expr::Const(number @ (Literal::Int(_) | Literal::Float(_))) => {
                InstrOperand::at(OperandPlace::Const(self.constants.literal(number)))
            }
            _ => None,
        }
    }
}
