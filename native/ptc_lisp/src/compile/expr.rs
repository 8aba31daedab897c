//! Expressions.

use super::calls;
use super::places::text;
use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, Literal, LocalId, NameId, Pattern};
use crate::code::{Instr, Own, ASK_BUILTIN, ASK_PRINT};
use crate::consts::{Const, Word, EMPTY_MAP};
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
                self.code.push(Instr::Own(Own::Data(key)));
            }
            Expr::Tool(name) => {
                self.calls_tools = true;
                let name = Const::text(source.names[*name as usize].clone());
                let id = self.constants.add(Const::Marked(Word::Tool, vec![name]));
                self.code.push(Instr::Const(id));
            }
            Expr::History(place) => self.code.push(Instr::Own(Own::History(*place))),
            Expr::Budget => self.code.push(Instr::Own(Own::Budget)),
            Expr::Vector(items) => self.vector(items),
            Expr::Map(pairs) => {
                let parts = pairs.iter().flat_map(|(key, value)| [*key, *value]);
                self.then_all(|tasks| {
                    tasks.extend(parts.map(CompileTask::Expr));
                    tasks.push(CompileTask::Emit(Instr::Own(Own::Map(pairs.len() as u32))));
                });
            }
            Expr::Set(items) => self.all(items, Instr::Own(Own::Set(items.len() as u32))),
            Expr::If(test, yes, no) => self.branch(*test, None, (*yes, *no), CompileTask::Expr),
            Expr::IfNil(test, yes, no) => {
                let is_nil = Some(Instr::Own(Own::IsNil));
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
                self.code.push(Instr::Own(Own::Closure {
                    entry: self.entries[*function as usize],
                    captures: captured.len() as u32,
                }));
            }
            Expr::Call(callee, arguments) => self.call(*callee, arguments),
            Expr::CallTool(name, argument) => {
                self.calls_tools = true;
                let tool = self.constants.text(&source.names[*name as usize]);
                let call = Instr::Call {
                    tool,
                    on_error: NO_PC,
                };
                match argument {
                    None => self.code.extend([Instr::Const(EMPTY_MAP), call]),
                    Some(argument) => {
                        if let Some(constant) = self.constant_arguments(*argument) {
                            self.code.extend([Instr::Const(constant), call]);
                            return;
                        }
                        let mut tasks = self.arguments_of_tool(*argument);
                        tasks.extend([
                            CompileTask::Emit(Instr::Own(Own::ToolArguments(tool))),
                            CompileTask::Emit(call),
                        ]);
                        self.then(tasks);
                    }
                }
            }
            Expr::BadToolCall(name, arguments) => {
                let tool = self.constants.text(&source.names[*name as usize]);
                let count = arguments.len() as u32;
                self.all(arguments, Instr::Own(Own::BadArguments { tool, count }));
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
                tasks.push(CompileTask::Emit(Instr::Own(Own::Define { global, var })));
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
                self.all(functions, Instr::Own(Own::Juxt(functions.len() as u32)))
            }
            Expr::Apply(function, arguments) => {
                let before = arguments.len().saturating_sub(1) as u32;
                let free = self.current.next_slot;
                let slot = self.slot();
                let mut tasks = vec![CompileTask::Expr(*function)];
                tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
                tasks.push(CompileTask::Emit(Instr::Own(Own::Spread { before, slot })));
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
            Expr::Try(body, error, handler) => {
                let (caught, end) = (self.label(), self.label());
                let before = self.current.next_slot;
                let slot = self.slot();
                self.places.insert(*error, LocalPlace::Slot(slot));
                self.then([
                    CompileTask::Emit(Instr::Own(Own::Guard(caught))),
                    CompileTask::Expr(*body),
                    CompileTask::Emit(Instr::Own(Own::Unguard)),
                    CompileTask::Emit(Instr::Jump(end)),
                    CompileTask::Place(caught),
                    CompileTask::BackInForm,
                    CompileTask::Store(slot),
                    CompileTask::Expr(*handler),
                    CompileTask::Place(end),
                    CompileTask::Leave(before),
                ]);
            }
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

    /// A parallel form: the error of a tool that its functions call is an error of the form.
    fn parallel(&mut self, form: Builtin, arguments: &[ExprId]) {
        let (failed, end) = (self.label(), self.label());
        let value = self.builtin_constant(form);
        let mut tasks = vec![CompileTask::Emit(Instr::Const(value))];
        tasks.extend(arguments.iter().map(|it| CompileTask::Expr(*it)));
        tasks.extend([
            CompileTask::Emit(Instr::Own(Own::Guard(failed))),
            CompileTask::Emit(Instr::Invoke(arguments.len() as u32)),
            CompileTask::Emit(Instr::Own(Own::Unguard)),
            CompileTask::Emit(Instr::Jump(end)),
            CompileTask::Place(failed),
            CompileTask::Emit(Instr::Own(Own::WorkerFailed { form })),
            CompileTask::Emit(Instr::Fail(())),
            CompileTask::Place(end),
        ]);
        self.then(tasks);
    }

    /// Pushes the value of a local.
    fn local(&mut self, local: LocalId) {
        self.code.push(match self.places.get(local) {
            Some(LocalPlace::Slot(slot)) => Instr::Slot(slot),
            Some(LocalPlace::Growing(base, added)) => Instr::Own(Own::Whole { base, added }),
            Some(LocalPlace::Captured(index)) => Instr::Own(Own::Captured {
                slot: self.current.own,
                index,
            }),
            None => Instr::Nil,
        });
    }

    fn constant(&mut self, literal: &Literal) {
        let instr = match literal {
            Literal::Nil => Instr::Nil,
            Literal::Bool(value) => Instr::Bool(*value),
            literal => Instr::Const(self.constants.literal(literal)),
        };
        self.code.push(instr);
    }

    /// Compiles parts, and then what takes their values.
    fn all(&mut self, parts: &[ExprId], then: Instr) {
        self.then_all(|tasks| {
            tasks.extend(parts.iter().map(|part| CompileTask::Expr(*part)));
            tasks.push(CompileTask::Emit(then));
        });
    }

    fn vector(&mut self, items: &[ExprId]) {
        let source = self.source;
        let constant = |item: &ExprId| match &source.exprs[*item as usize] {
            Expr::Const(literal) => Some(Const::Literal(literal.clone())),
            _ => None,
        };
        match items.iter().map(constant).collect::<Option<Vec<_>>>() {
            Some(items) => {
                let id = self.constants.add(Const::List(items));
                self.code.push(Instr::Const(id));
            }
            None => self.all(items, Instr::Own(Own::Vector(items.len() as u32))),
        }
    }

    /// A name of the user namespace, or of a built-in.
    fn name(&mut self, name: NameId, or_nil: bool) {
        let builtin = self.meanings[name as usize].builtin;
        if let Some(builtin) = builtin {
            if !self.is_user(name) {
                return self.builtin_value(builtin);
            }
        }
        let fallback = match builtin {
            Some(builtin) => self.builtin_constant(builtin),
            None if or_nil => self.constants.literal(&Literal::Nil),
            None => NO_CONST,
        };
        let global = self.global(name);
        let name = self.constants.text(text(self.source, name));
        self.code.push(Instr::Own(Own::Global {
            global,
            name,
            fallback,
        }));
    }

    /// Whether a name of a built-in may be one of the user namespace.
    fn is_user(&mut self, name: NameId) -> bool {
        let meaning = &mut self.meanings[name as usize];
        if !meaning.is_user && !meaning.is_listed {
            meaning.is_listed = true;
            self.builtins.push(text(self.source, name));
        }
        meaning.is_user
    }

    pub(super) fn builtin_constant(&mut self, builtin: Builtin) -> ConstId {
        self.has_effects |= builtin == Builtin::Println;
        let number = Const::number(builtin as i64);
        self.constants
            .add(Const::Marked(Word::Builtin, vec![number]))
    }

    fn builtin_value(&mut self, builtin: Builtin) {
        let id = self.builtin_constant(builtin);
        self.code.push(Instr::Const(id));
    }

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
    fn connective(&mut self, parts: &[ExprId], when: bool) {
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
        tasks.push(CompileTask::Emit(Instr::Own(Own::Map(pairs.len() as u32))));
        tasks
    }

    fn end(&mut self, value: ExprId, failed: bool) {
        self.has_effects |= self.in_function;
        self.then([
            CompileTask::Expr(value),
            CompileTask::Emit(Instr::Own(Own::End { failed })),
        ]);
    }

    fn case(
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
                tasks.push(CompileTask::Emit(Instr::Own(Own::Matches(value))));
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

    /// A call.
    fn call(&mut self, callee: ExprId, arguments: &[ExprId]) {
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
                return self.all(arguments, Instr::Own(Own::Keyword { key, default }));
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
            CompileTask::Emit(Instr::Own(Own::TakeEndless(end))),
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
                    CompileTask::Emit(Instr::Own(Own::Question {
                        builtin,
                        arguments: count,
                    })),
                    CompileTask::Emit(Instr::Ask(ASK_BUILTIN)),
                    CompileTask::Emit(Instr::Own(Own::Answered)),
                ]),
                _ if builtin == Builtin::Println => tasks.extend([
                    CompileTask::Emit(apply(builtin, count)),
                    CompileTask::Emit(Instr::Ask(ASK_PRINT)),
                ]),
                _ => tasks.push(CompileTask::Emit(apply(builtin, count))),
            }
        });
    }
}
