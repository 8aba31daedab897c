//! Expressions.

use super::task::CompileTask;
use super::Compiler;
use crate::ast::{Expr, ExprId, Literal, Pattern};
use crate::code::{Instr, Other, Own};
use crate::consts::{Const, Word};
use crate::table::Builtin;

impl<'a> Compiler<'a> {
    /// Compiles an expression: its code pushes one value.
    pub(super) fn expr(&mut self, id: ExprId) {
        let source = self.source;
        match &source.exprs[id as usize] {
            Expr::Const(literal) => self.constant(literal),
            Expr::Local(local) => {
                self.local(*local);
            }
            Expr::Global { name, or_nil } => {
                self.name(*name, *or_nil);
            }
            Expr::Builtin(builtin) => self.builtin_value(*builtin),
            Expr::Data(name) => {
                let key = Literal::Keyword(source.names[*name as usize].clone());
                let key = self.constants.key(&key);
                self.code.push(Other::Data(key).instr());
            }
            Expr::Tool(name) => {
                self.calls_tools = true;
                let name = Const::text(source.names[*name as usize].clone());
                let id = self.constants.add(Const::Marked(Word::Tool, vec![name]));
                self.code.push(Instr::Const(id));
            }
            Expr::History(place) => self.code.push(Other::History(*place).instr()),
            Expr::Budget => self.code.push(Other::Budget.instr()),
            Expr::Vector(items) => self.vector(items),
            Expr::Map(pairs) => {
                let parts = pairs.iter().flat_map(|(key, value)| [*key, *value]);
                self.then_all(|tasks| {
                    tasks.extend(parts.map(CompileTask::Expr));
                    tasks.push(CompileTask::Emit(Other::Map(pairs.len() as u32).instr()));
                });
            }
            Expr::Set(items) => self.all(items, Other::Set(items.len() as u32).instr()),
            Expr::If(test, yes, no) => self.branch(*test, None, (*yes, *no), CompileTask::Expr),
            Expr::IfNil(test, yes, no) => {
                let is_nil = Some(Other::IsNil.instr());
                self.branch(*test, is_nil, (*yes, *no), CompileTask::Expr)
            }
            Expr::Do(parts) => self.body(parts, CompileTask::Expr),
            Expr::And(parts) => self.connective(parts, false),
            Expr::Or(parts) => self.connective(parts, true),
            Expr::Let(bindings, body) => self.let_form(bindings, CompileTask::Expr(*body)),
            Expr::Loop(bindings, body) => self.loop_form(bindings, *body),
            Expr::Recur(values) => self.recur(values),
            Expr::Fn(function) => {
                let captured = self.free[*function as usize].clone();
                captured.iter().for_each(|local| self.local(*local));
                self.code.push(
                    Other::Closure {
                        entry: self.entries[*function as usize],
                        captures: captured.len() as u32,
                    }
                    .instr(),
                );
            }
            Expr::Call(callee, arguments) => self.call(*callee, arguments),
            Expr::CallTool(name, argument) => self.call_tool(*name, *argument),
            Expr::BadToolCall(name, arguments) => {
                let tool = self.constants.text(&source.names[*name as usize]);
                let count = arguments.len() as u32;
                self.all(arguments, Other::BadArguments { tool, count }.instr());
            }
            Expr::Def {
                name, once, value, ..
            } => {
                self.has_effects |= self.in_function;
                let global = self.global(*name);
                let name = source.names[*name as usize].clone();
                let var = self.constants.add(Const::Var(name));
                let end = self.label();
                let mut tasks = Vec::with_capacity(4);
                if *once {
                    let to = end;
                    tasks.push(CompileTask::Emit(Instr::Own(Own::IfBound {
                        global,
                        var,
                        to,
                    })));
                }
                tasks.push(CompileTask::Expr(*value));
                tasks.push(CompileTask::Emit(Other::Define { global, var }.instr()));
                tasks.push(CompileTask::Place(end));
                self.then(tasks);
            }
            Expr::Return(value) => self.end(*value, false),
            Expr::Fail(value) => self.end(*value, true),
            Expr::Case {
                subject,
                clauses,
                default,
            } => self.case(*subject, clauses, *default),
            Expr::For {
                clauses,
                body,
                collects,
            } => self.for_form(clauses, *body, *collects),
            Expr::Juxt(functions) => {
                self.all(functions, Other::Juxt(functions.len() as u32).instr())
            }
            Expr::Apply(function, arguments) => {
                let before = arguments.len().saturating_sub(1) as u32;
                let free = self.current.next_slot;
                let slot = self.slot();
                let mut tasks = vec![CompileTask::Expr(*function)];
                tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
                tasks.push(CompileTask::Emit(Other::Spread { before, slot }.instr()));
                tasks.push(CompileTask::Emit(Instr::InvokeCount(slot)));
                tasks.push(CompileTask::Leave(free));
                self.then(tasks);
            }
            Expr::Pmap(function, lists) => {
                let mut arguments = vec![*function];
                arguments.extend(lists);
                self.parallel(Builtin::Pmap, &arguments);
            }
            Expr::Pcalls(functions) => {
                self.parallel(Builtin::Pcalls, functions);
            }
            Expr::Try(body, error, handler) => self.try_form(*body, *error, *handler),
        }
    }

    /// Several expressions, of which the last one has the value.
    pub(super) fn body(&mut self, parts: &[ExprId], value: fn(ExprId) -> CompileTask<'a>) {
        let nil = [CompileTask::Emit(Instr::Nil)];
        let Some((last, first)) = parts.split_last() else {
            return self.then(nil);
        };
        self.then_all(|tasks| {
            for part in first {
                tasks.extend([CompileTask::Expr(*part), CompileTask::Emit(Instr::Drop)]);
            }
            tasks.push(value(*last));
        });
    }

    /// `let` with this body.
    pub(super) fn let_form(&mut self, bindings: &'a [(Pattern, ExprId)], body: CompileTask<'a>) {
        let leave = CompileTask::Leave(self.current.next_slot);
        self.then_all(|tasks| {
            for (pattern, value) in bindings {
                tasks.extend([CompileTask::Expr(*value), CompileTask::Bind(pattern)]);
            }
            tasks.extend([body, leave]);
        });
    }

    /// Compiles parts, and then what takes their values.
    pub(super) fn all(&mut self, parts: &[ExprId], then: Instr) {
        self.then_all(|tasks| {
            tasks.extend(parts.iter().map(|part| CompileTask::Expr(*part)));
            tasks.push(CompileTask::Emit(then));
        });
    }

    fn end(&mut self, value: ExprId, failed: bool) {
        self.has_effects |= self.in_function;
        self.then([
            CompileTask::Expr(value),
            CompileTask::Emit(Other::End { failed }.instr()),
        ]);
    }
}
