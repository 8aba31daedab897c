//! Loops: `loop` and `recur`, `for` and `doseq`, and the bodies of functions.

use super::task::{CompileTask, For};
use super::{Compiler, Current, Label, LocalPlace, Target};
use crate::ast::{Clause, ExprId, FunctionId, Pattern, Problem};
use crate::code::{Instr, Other, Own};
use crate::consts::EMPTY_LIST;
use crate::patience::Patience;
use crate::table::Builtin;

impl<'a> Compiler<'a> {
    /// `loop`: the values are in slots of their own, from which patterns are bound in each round.
    pub(super) fn loop_form(&mut self, bindings: &'a [(Pattern, ExprId)], body: ExprId) {
        let before = self.current.next_slot;
        let mut tasks = Vec::with_capacity(4 * bindings.len() + 4);
        let mut places = Vec::with_capacity(bindings.len());
        for (pattern, value) in bindings {
            tasks.push(CompileTask::Expr(*value));
            // A local is seen by the bindings behind it, so its slot is known from there on.
            let place = self.place_of_jump(pattern);
            tasks.push(CompileTask::Store(place.slot()));
            match pattern {
                Pattern::Local(_) => tasks.extend(place.nothing_added()),
                pattern => {
                    tasks.push(CompileTask::Emit(Instr::Slot(place.slot())));
                    tasks.push(CompileTask::Bind(pattern));
                }
            }
            places.push(place);
        }
        tasks.push(CompileTask::BeginLoop(bindings, places));
        tasks.push(CompileTask::Expr(body));
        tasks.push(CompileTask::EndLoop);
        tasks.push(CompileTask::Leave(before));
        self.then(tasks);
    }

    /// Begins the body of a loop.
    pub(super) fn begin_loop(
        &mut self,
        bindings: &'a [(Pattern, ExprId)],
        places: Vec<LocalPlace>,
    ) {
        let head = self.label();
        self.place(head);
        self.back_in_form();
        for ((pattern, _), place) in bindings.iter().zip(&places) {
            if !matches!(pattern, Pattern::Local(_)) {
                self.code.push(Instr::Slot(place.slot()));
                self.bind(pattern);
            }
        }
        self.current.targets.push(Target { head, places });
    }

    /// `recur`
    pub(super) fn recur(&mut self, values: &'a [ExprId]) {
        let Some(target) = self.current.targets.last().cloned() else {
            self.code.push(Instr::Nil);
            return;
        };
        let mut tasks = Vec::with_capacity(2 * values.len() + 1);
        if values.len() == target.places.len() {
            for (value, place) in values.iter().zip(&target.places) {
                tasks.push(match place {
                    LocalPlace::Growing(..) => CompileTask::Grow(*value),
                    _ => CompileTask::Expr(*value),
                });
            }
            for place in target.places.iter().rev() {
                if let LocalPlace::Growing(_, added) = place {
                    tasks.push(CompileTask::Store(*added));
                }
                tasks.push(CompileTask::Store(place.slot()));
            }
            tasks.push(CompileTask::Emit(Instr::Jump(target.head)));
        } else {
            tasks.extend(values.iter().map(|value| CompileTask::Expr(*value)));
            tasks.extend(values.iter().map(|_| CompileTask::Emit(Instr::Drop)));
            let (expected, got) = (target.places.len() as u32, values.len() as u32);
            tasks.push(CompileTask::Emit(
                Other::RecurCount { expected, got }.instr(),
            ));
            tasks.push(CompileTask::Emit(Instr::Nil));
        }
        self.then(tasks);
    }

    /// `for` and `doseq`
    pub(super) fn for_form(&mut self, clauses: &'a [Clause], body: ExprId, collects: bool) {
        let before = self.current.next_slot;
        let into = collects.then(|| self.slot());
        let mut tasks = Vec::new();
        if let Some(slot) = into {
            tasks.push(CompileTask::Emit(Instr::Const(EMPTY_LIST)));
            tasks.push(CompileTask::Store(slot));
        }
        let form = For {
            clauses,
            body,
            into,
        };
        tasks.push(CompileTask::Clauses(form, 0, None));
        match into {
            Some(slot) => {
                tasks.push(CompileTask::Emit(Instr::Slot(slot)));
                tasks.push(CompileTask::Emit(super::invoke::apply(Builtin::Reverse, 1)));
            }
            None => tasks.push(CompileTask::Emit(Instr::Nil)),
        }
        tasks.push(CompileTask::Leave(before));
        self.then(tasks);
    }

    /// The clauses of a `for` from one on. `around`: where the innermost loop goes on, and where it ends.
    pub(super) fn clauses(&mut self, form: For<'a>, at: usize, around: Option<(Label, Label)>) {
        let Some(clause) = form.clauses.get(at) else {
            let mut tasks = vec![CompileTask::Expr(form.body)];
            tasks.push(match form.into {
                Some(slot) => CompileTask::Emit(Instr::Own(Own::Collect(slot))),
                None => CompileTask::Emit(Instr::Drop),
            });
            self.then(tasks);
            return;
        };
        let rest = CompileTask::Clauses(form, at + 1, around);
        match clause {
            Clause::Each(pattern, list) => {
                let slot = self.slot();
                let (next, done) = (self.label(), self.label());
                self.then([
                    CompileTask::Expr(*list),
                    CompileTask::Emit(Other::Items.instr()),
                    CompileTask::Store(slot),
                    CompileTask::Place(next),
                    CompileTask::Emit(Other::NextItem { slot, to: done }.instr()),
                    CompileTask::Bind(pattern),
                    CompileTask::Clauses(form, at + 1, Some((next, done))),
                    CompileTask::Emit(Instr::Jump(next)),
                    CompileTask::Place(done),
                ]);
            }
            Clause::When(test) | Clause::While(test) => {
                let is_while = matches!(clause, Clause::While(_));
                let Some((next, done)) = around else {
                    return self.then([rest]);
                };
                let to = if is_while { done } else { next };
                let jump = Instr::JumpIf { when: false, to };
                self.then([CompileTask::Expr(*test), CompileTask::Emit(jump), rest]);
            }
            Clause::Let(bindings) => {
                let mut tasks = Vec::with_capacity(2 * bindings.len() + 1);
                for (pattern, value) in bindings {
                    tasks.push(CompileTask::Expr(*value));
                    tasks.push(CompileTask::Bind(pattern));
                }
                tasks.push(rest);
                self.then(tasks);
            }
        }
    }

    /// Compiles a function.
    pub(super) fn function(
        &mut self,
        function: FunctionId,
        patience: &mut Patience,
    ) -> Result<(), Problem> {
        let about = &self.source.functions[function as usize];
        self.current = Current::default();
        self.places.begin();
        let patterns: Vec<_> = about.params.iter().chain(&about.rest).collect();
        // The arguments are in the first slots, and the function is behind them.
        let mut places: Vec<_> = patterns
            .iter()
            .map(|_| LocalPlace::Slot(self.slot()))
            .collect();
        self.current.own = self.slot();
        for (pattern, place) in patterns.iter().zip(&mut places) {
            if let Pattern::Local(local) = pattern {
                if self.growing.contains(*local) {
                    *place = LocalPlace::Growing(place.slot(), self.slot());
                }
                self.places.insert(*local, *place);
            }
        }
        if let Some(own) = about.own {
            let place = LocalPlace::Slot(self.current.own);
            if self.places.get(own).is_none() {
                self.places.insert(own, place);
            }
        }
        let captured = self.free[function as usize].clone();
        for (index, local) in captured.iter().enumerate() {
            let place = LocalPlace::Captured(index as u32);
            self.places.insert(*local, place);
        }
        self.place(self.entries[function as usize]);
        let entry = self.code.len();
        self.open_span_of_function(about.unit, about.source);
        self.code.push(Instr::Nil);
        for place in &places {
            if let LocalPlace::Growing(_, added) = place {
                self.code
                    .extend([Instr::Const(EMPTY_LIST), Instr::Store(*added)]);
            }
        }
        self.open_function(function);
        let head = self.label();
        self.place(head);
        self.back_in_form();
        for (place, pattern) in places.iter().zip(&about.params) {
            if !matches!(pattern, Pattern::Local(_)) {
                self.code.push(Instr::Slot(place.slot()));
                self.bind(pattern);
            }
        }
        match &about.rest {
            Some(pattern @ Pattern::Map { .. }) => {
                let slot = places[about.params.len()].slot();
                self.code.push(Other::Arguments(slot).instr());
                self.code.push(Instr::Slot(slot));
                self.bind(pattern);
            }
            Some(pattern @ Pattern::List(..)) => {
                let slot = places[about.params.len()].slot();
                self.code.push(Instr::Slot(slot));
                self.bind(pattern);
            }
            _ => {}
        }
        self.current.targets.push(Target { head, places });
        self.run(about.body, patience)?;
        self.close_form(false);
        self.code.push(Instr::Return);
        self.close_span();
        let (params, captures) = (
            u16::try_from(about.params.len()),
            u16::try_from(captured.len()),
        );
        let (Ok(params), Ok(captures)) = (params, captures) else {
            return Err(self.too_large(about.source));
        };
        let about_it = self.about(function, &captured);
        self.code[entry] = Instr::Own(Own::Entry {
            about: about_it,
            params,
            captures,
            slots: self.current.most_slots,
            rest: about.rest.is_some(),
        });
        Ok(())
    }
}
