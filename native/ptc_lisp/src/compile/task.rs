//! What the compiler has still to do.

use super::{Compiler, Label};
use crate::ast::{Clause, ExprId, Pattern};
use crate::code::Instr;
use ptc_vm::program::Slot;

/// A task. The last one of the stack is the next.
pub(super) enum Task<'a> {
    /// Compile an expression.
    Expr(ExprId),
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
    BeginLoop(&'a [(Pattern, ExprId)], Vec<Slot>),
    /// End the innermost loop.
    EndLoop,
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
    pub(super) fn task(&mut self, task: Task<'a>) {
        match task {
            Task::Expr(expr) => self.expr(expr),
            Task::Emit(instr) => self.code.push(instr),
            Task::Place(label) => self.place(label),
            Task::Bind(pattern) => self.bind(pattern),
            Task::Store(slot) => self.code.push(Instr::Store(slot)),
            Task::Leave(slot) => self.current.next_slot = slot,
            Task::BeginLoop(bindings, slots) => self.begin_loop(bindings, slots),
            Task::EndLoop => {
                self.current.targets.pop();
            }
            Task::Clauses(form, at, around) => self.clauses(form, at, around),
        }
    }

    /// Adds tasks, of which the first is done first.
    pub(super) fn then(
        &mut self,
        tasks: impl IntoIterator<Item = Task<'a>, IntoIter: DoubleEndedIterator>,
    ) {
        self.tasks.extend(tasks.into_iter().rev());
    }
}
