//! What the compiler has still to do.

use super::{Compiler, Label, LocalPlace};
use crate::ast::{Clause, ExprId, Pattern};
use crate::code::Instr;
use ptc_vm::program::Slot;

/// A task. The last one of the stack is the next.
pub(super) enum CompileTask<'a> {
    /// Compile an expression.
    Expr(ExprId),
    /// Compile an expression: its code pushes the two parts of a value that grows.
    Grow(ExprId),
    /// Emit an instruction.
    Emit(Instr),
    /// Let a label stand here.
    Place(Label),
    /// Bind the value on the stack.
    Bind(&'a Pattern),
    /// Bind the value on the stack to this slot.
    Store(Slot),
    /// Free the slots that were taken since.
    Leave(Slot),
    /// Begin the body of a loop, whose values are in these slots.
    BeginLoop(&'a [(Pattern, ExprId)], Vec<LocalPlace>),
    /// End the innermost loop.
    EndLoop,
    /// Mark the end of the innermost form that is observed; whether its value has two parts.
    CloseForm(bool),
    /// End the innermost part whose place is kept.
    CloseSpan,
    /// Mark that a jump leads here.
    BackInForm,
    /// The clauses of a `for` from this one on.
    Clauses(For<'a>, usize, Option<(Label, Label)>),
}

/// A `for` or `doseq` that is being compiled.
#[derive(Clone, Copy)]
pub(super) struct For<'a> {
    pub clauses: &'a [Clause],
    pub body: ExprId,
    /// The slot of what is collected.
    pub into: Option<Slot>,
}

impl<'a> Compiler<'a> {
    /// Does a task.
    pub(super) fn task(&mut self, task: CompileTask<'a>) {
        match task {
            CompileTask::Expr(expr) => {
                self.open_form(expr, false);
                self.expr(expr)
            }
            CompileTask::Grow(expr) => self.grow(expr),
            CompileTask::Emit(instr) => self.code.push(instr),
            CompileTask::Place(label) => self.place(label),
            CompileTask::Bind(pattern) => self.bind(pattern),
            CompileTask::Store(slot) => self.code.push(Instr::Store(slot)),
            CompileTask::Leave(slot) => self.current.next_slot = slot,
            CompileTask::BeginLoop(bindings, places) => self.begin_loop(bindings, places),
            CompileTask::EndLoop => {
                self.current.targets.pop();
            }
            CompileTask::CloseForm(grows) => self.close_form(grows),
            CompileTask::CloseSpan => self.close_span(),
            CompileTask::BackInForm => self.back_in_form(),
            CompileTask::Clauses(form, at, around) => self.clauses(form, at, around),
        }
    }

    /// Adds the tasks that a function pushes, of which the first is done first.
    pub(super) fn then_all(&mut self, push: impl FnOnce(&mut Vec<CompileTask<'a>>)) {
        let before = self.tasks.len();
        push(&mut self.tasks);
        self.tasks[before..].reverse();
    }

    /// Adds tasks, of which the first is done first.
    pub(super) fn then(
        &mut self,
        tasks: impl IntoIterator<Item = CompileTask<'a>, IntoIter: DoubleEndedIterator>,
    ) {
        self.tasks.extend(tasks.into_iter().rev());
    }
}
