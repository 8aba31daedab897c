//! Calls: of functions, built-ins, keywords and tools, and of functions in parallel.

use super::calls;
use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, Literal, NameId};
use crate::code::{Instr, Other, Own, ASK_BUILTIN, ASK_PRINT};
use crate::consts::{Const, EMPTY_MAP};
use crate::table::{Builtin, Family};
use ptc_vm::program::{Apply, ConstId, Demand, Slot, NO_CONST, NO_PC};
use std::collections::HashSet;

/// The evaluation of a built-in with so many operands.
pub(super) fn apply(op: Builtin, operands: u32) -> Instr {
    Instr::Apply(Apply {
        op,
        input: 0,
        operands,
        key: NO_CONST,
        value: NO_CONST,
        mode: 0,
        demand: Demand::All,
    })
}

impl<'a> Compiler<'a> {
    /// A call.
    pub(super) fn call(&mut self, callee: ExprId, arguments: &[ExprId]) {
        let source = self.source;
        let count = arguments.len() as u32;
        if let Some(builtin) = self.builtin_of(callee) {
            if builtin == Builtin::Reduce && self.reduce(callee, arguments) {
                return;
            }
            if self.inlined(builtin, arguments) {
                return;
            }
            return self.call_builtin(builtin, arguments);
        }
        match &source.exprs[callee as usize] {
            Expr::Const(key @ Literal::Keyword(_)) if count == 1 || count == 2 => {
                let key = self.constants.key(key);
                if let (1, Some(slot)) = (count, self.slot_of_local(arguments[0])) {
                    return self.code.push(Instr::Own(Own::KeywordOf { slot, key }));
                }
                let default = count == 2;
                return self.all(arguments, Other::Keyword { key, default }.instr());
            }
            _ => {}
        }
        self.then_all(|tasks| {
            tasks.push(CompileTask::Expr(callee));
            tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
            tasks.push(CompileTask::Emit(Instr::Invoke(count)));
        });
    }

    /// The slot of an expression that is a local.
    pub(super) fn slot_of_local(&self, id: ExprId) -> Option<Slot> {
        match &self.source.exprs[id as usize] {
            Expr::Local(local) => match self.places.get(*local) {
                Some(LocalPlace::Slot(slot)) => Some(slot),
                _ => None,
            },
            _ => None,
        }
    }

    /// The built-in that an expression means, unless the program has its own function of that name.
    pub(super) fn builtin_of(&mut self, callee: ExprId) -> Option<Builtin> {
        let source = self.source;
        match &source.exprs[callee as usize] {
            Expr::Builtin(builtin) => Some(*builtin),
            Expr::Global { name, .. } => {
                let builtin = self.meanings[*name as usize].builtin;
                builtin.filter(|_| !self.is_user(*name))
            }
            _ => None,
        }
    }

    /// `take` of a `range` whose step is given: it may be 0. Returns false for any other call.
    fn take_of_range(&mut self, builtin: Builtin, arguments: &[ExprId]) -> bool {
        let (Builtin::Take, &[count, items]) = (builtin, arguments) else {
            return false;
        };
        let source = self.source;
        let Expr::Call(callee, range) = &source.exprs[items as usize] else {
            return false;
        };
        if range.len() != 3 || self.builtin_of(*callee) != Some(Builtin::Range) {
            return false;
        }
        let end = self.label();
        let mut tasks = vec![CompileTask::Expr(count)];
        tasks.extend(range.iter().map(|it| CompileTask::Expr(*it)));
        tasks.extend([
            CompileTask::Emit(Other::TakeEndless(end).instr()),
            CompileTask::Emit(apply(Builtin::Range, 3)),
            CompileTask::Emit(apply(Builtin::Take, 2)),
            CompileTask::Place(end),
        ]);
        self.then(tasks);
        true
    }

    fn call_builtin(&mut self, builtin: Builtin, arguments: &[ExprId]) {
        if self.take_of_range(builtin, arguments) || self.arithmetic(builtin, arguments) {
            return;
        }
        let count = arguments.len() as u32;
        let family = builtin.row().family;
        let called = (family == Family::Calls).then(|| self.builtin_constant(builtin));
        self.has_effects |= builtin == Builtin::Println;
        self.then_all(|tasks| {
            tasks.extend(called.map(|value| CompileTask::Emit(Instr::Const(value))));
            tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
            match family {
                Family::Calls => tasks.push(CompileTask::Emit(Instr::Invoke(count))),
                Family::Asked => tasks.extend([
                    CompileTask::Emit(
                        Other::Question {
                            builtin,
                            arguments: count,
                        }
                        .instr(),
                    ),
                    CompileTask::Emit(Instr::Ask(ASK_BUILTIN)),
                    CompileTask::Emit(Other::Answered.instr()),
                ]),
                _ if builtin == Builtin::Println => tasks.extend([
                    CompileTask::Emit(apply(builtin, count)),
                    CompileTask::Emit(Instr::Ask(ASK_PRINT)),
                ]),
                _ => tasks.push(CompileTask::Emit(apply(builtin, count))),
            }
        });
    }

    /// A call of a tool.
    pub(super) fn call_tool(&mut self, name: NameId, argument: Option<ExprId>) {
        self.calls_tools = true;
        let tool = self.constants.text(&self.source.names[name as usize]);
        let call = Instr::Call {
            tool,
            on_error: NO_PC,
        };
        let Some(argument) = argument else {
            return self.code.extend([Instr::Const(EMPTY_MAP), call]);
        };
        if let Some(constant) = self.constant_arguments(argument) {
            return self.code.extend([Instr::Const(constant), call]);
        }
        let mut tasks = self.arguments_of_tool(argument);
        tasks.extend([
            CompileTask::Emit(Other::ToolArguments(tool).instr()),
            CompileTask::Emit(call),
        ]);
        self.then(tasks);
    }

    /// Returns the constant of the arguments of a tool, if all are constants.
    fn constant_arguments(&mut self, argument: ExprId) -> Option<ConstId> {
        if self.marks_forms() {
            return None;
        }
        let arguments = calls::arguments(self.source, Some(argument))?;
        let constants = arguments.into_iter();
        let constants = constants.map(|(name, value)| Some((name, Const::Literal(value?))));
        let constants = constants.collect::<Option<Vec<_>>>()?;
        Some(self.constants.add(Const::Map(constants)))
    }

    /// What pushes the arguments of a tool. A map that is written with keywords as keys is made with the texts that the tool gets.
    fn arguments_of_tool(&mut self, argument: ExprId) -> Vec<CompileTask<'a>> {
        let source = self.source;
        let as_written = vec![CompileTask::Expr(argument)];
        let Expr::Map(pairs) = &source.exprs[argument as usize] else {
            return as_written;
        };
        let name = |(key, _): &(ExprId, ExprId)| match &source.exprs[*key as usize] {
            Expr::Const(Literal::Keyword(name)) => Some(name.replace('-', "_")),
            _ => None,
        };
        let Some(names) = pairs.iter().map(name).collect::<Option<Vec<_>>>() else {
            return as_written;
        };
        // Two keywords may become one text.
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            return as_written;
        }
        let mut tasks = Vec::with_capacity(2 * pairs.len() + 1);
        for (name, (_, value)) in names.iter().zip(pairs) {
            let name = self.constants.text(name);
            tasks.push(CompileTask::Emit(Instr::Const(name)));
            tasks.push(CompileTask::Expr(*value));
        }
        tasks.push(CompileTask::Emit(Other::Map(pairs.len() as u32).instr()));
        tasks
    }

    /// A parallel form: the error of a tool that its functions call is an error of the form.
    pub(super) fn parallel(&mut self, form: Builtin, arguments: &[ExprId]) {
        let (failed, end) = (self.label(), self.label());
        let value = self.builtin_constant(form);
        let mut tasks = vec![CompileTask::Emit(Instr::Const(value))];
        tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
        tasks.extend([
            CompileTask::Emit(Other::Guard(failed).instr()),
            CompileTask::Emit(Instr::Invoke(arguments.len() as u32)),
            CompileTask::Emit(Other::Unguard.instr()),
            CompileTask::Emit(Instr::Jump(end)),
            CompileTask::Place(failed),
            CompileTask::Emit(Other::WorkerFailed { form }.instr()),
            CompileTask::Emit(Instr::Fail(())),
            CompileTask::Place(end),
        ]);
        self.then(tasks);
    }
}
