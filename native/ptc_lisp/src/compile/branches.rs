//! Forms that choose what is evaluated: `if`, `and`, `or`, `case`, `try`.

use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{ExprId, Literal, LocalId};
use crate::code::{Instr, Other};

impl<'a> Compiler<'a> {
    /// `if`: with an instruction between the test and the jump. `value`: how the values of both are compiled.
    pub(super) fn branch(
        &mut self,
        test: ExprId,
        between: Option<Instr>,
        (yes, no): (ExprId, ExprId),
        value: fn(ExprId) -> CompileTask<'a>,
    ) {
        let (other, end) = (self.label(), self.label());
        let jump = Instr::JumpIf {
            when: false,
            to: other,
        };
        self.then_all(|tasks| {
            tasks.push(CompileTask::Expr(test));
            tasks.extend(between.map(CompileTask::Emit));
            tasks.extend([
                CompileTask::Emit(jump),
                value(yes),
                CompileTask::Emit(Instr::Jump(end)),
                CompileTask::Place(other),
                value(no),
                CompileTask::Place(end),
            ]);
        });
    }

    /// `and`, `or`: the first value with this truth, or the last one.
    pub(super) fn connective(&mut self, parts: &[ExprId], when: bool) {
        let Some((last, first)) = parts.split_last() else {
            return self.code.push(Instr::Nil);
        };
        let before = self.current.next_slot;
        let slot = self.slot();
        let (found, end) = (self.label(), self.label());
        self.then_all(|tasks| {
            for part in first {
                tasks.extend([
                    CompileTask::Expr(*part),
                    CompileTask::Store(slot),
                    CompileTask::Emit(Instr::Slot(slot)),
                    CompileTask::Emit(Instr::JumpIf { when, to: found }),
                ]);
            }
            tasks.extend([
                CompileTask::Expr(*last),
                CompileTask::Emit(Instr::Jump(end)),
                CompileTask::Place(found),
                CompileTask::Emit(Instr::Slot(slot)),
                CompileTask::Place(end),
                CompileTask::Leave(before),
            ]);
        });
    }

    /// `case`.
    pub(super) fn case(
        &mut self,
        subject: ExprId,
        clauses: &[(Vec<Literal>, ExprId)],
        default: Option<ExprId>,
    ) {
        let end = self.label();
        let mut tasks = vec![CompileTask::Expr(subject)];
        let mut found = Vec::with_capacity(clauses.len());
        for (values, _) in clauses {
            let label = self.label();
            found.push(label);
            for value in values {
                let value = self.constants.literal(value);
                tasks.push(CompileTask::Emit(Other::Matches(value).instr()));
                tasks.push(CompileTask::Emit(Instr::JumpIf {
                    when: true,
                    to: label,
                }));
            }
        }
        tasks.push(CompileTask::Emit(Instr::Drop));
        tasks.push(match default {
            Some(default) => CompileTask::Expr(default),
            None => CompileTask::Emit(Instr::Nil),
        });
        for ((_, value), label) in clauses.iter().zip(found) {
            tasks.extend([
                CompileTask::Emit(Instr::Jump(end)),
                CompileTask::Place(label),
                CompileTask::Emit(Instr::Drop),
                CompileTask::Expr(*value),
            ]);
        }
        tasks.push(CompileTask::Place(end));
        self.then(tasks);
    }

    /// `try`: the handler gets the error of a tool.
    pub(super) fn try_form(&mut self, body: ExprId, error: LocalId, handler: ExprId) {
        let (caught, end) = (self.label(), self.label());
        let before = self.current.next_slot;
        let slot = self.slot();
        self.places.insert(error, LocalPlace::Slot(slot));
        self.then([
            CompileTask::Emit(Other::Guard(caught).instr()),
            CompileTask::Expr(body),
            CompileTask::Emit(Other::Unguard.instr()),
            CompileTask::Emit(Instr::Jump(end)),
            CompileTask::Place(caught),
            CompileTask::BackInForm,
            CompileTask::Store(slot),
            CompileTask::Expr(handler),
            CompileTask::Place(end),
            CompileTask::Leave(before),
        ]);
    }
}
