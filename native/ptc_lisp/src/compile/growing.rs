//! Values that grow, see [`crate::families::growing`]: what `recur` adds to a local with `conj`, `into`, `concat` or `str`, and
//! what a function adds that `reduce` calls.
//!
//! Such a local has two slots. Whoever reads it gets all of it.

use super::free::children;
use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, LocalId, Pattern};
use crate::code::{Instr, Other};
use crate::consts::EMPTY_LIST;
use crate::families::growing::adds;
use crate::patience::{OutOfTime, Patience};
use crate::table::Builtin;
use ptc_vm::program::Slot;

impl LocalPlace {
    /// Returns the slot of the value, or of the base of one that grows.
    pub(super) fn slot(self) -> Slot {
        match self {
            LocalPlace::Slot(slot) | LocalPlace::Growing(slot, _) => slot,
            // It is never that of a parameter.
            LocalPlace::Captured(_) => 0,
        }
    }

    /// Returns what lets it have nothing beside its base.
    pub(super) fn nothing_added<'a>(self) -> Vec<CompileTask<'a>> {
        match self {
            LocalPlace::Growing(_, added) => vec![
                CompileTask::Emit(Instr::Const(EMPTY_LIST)),
                CompileTask::Store(added),
            ],
            _ => Vec::new(),
        }
    }
}

impl<'a> Compiler<'a> {
    /// Finds the locals that grow.
    pub(super) fn find_growing(&mut self, patience: &mut Patience) -> Result<(), OutOfTime> {
        let source = self.source;
        for expr in &source.exprs {
            patience.step()?;
            match expr {
                Expr::Recur(values) => values.iter().for_each(|value| {
                    let found = self.grown_by(*value);
                    found
                        .into_iter()
                        .for_each(|local| self.growing.insert(local));
                }),
                Expr::Call(callee, arguments) => {
                    if let Some((accumulator, ..)) = self.reducing(*callee, arguments) {
                        self.growing.insert(accumulator);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The locals to which the value of an expression adds something.
    fn grown_by(&mut self, expr: ExprId) -> Vec<LocalId> {
        let source = self.source;
        let (mut found, mut open) = (Vec::new(), vec![(expr, false)]);
        while let Some((expr, grows)) = open.pop() {
            match &source.exprs[expr as usize] {
                Expr::Local(local) if grows => found.push(*local),
                Expr::Call(callee, arguments)
                    if self.adding(*callee, arguments).is_some()
                        || self.gathers(*callee, arguments) =>
                {
                    open.push((arguments[0], true));
                }
                Expr::If(_, yes, no) | Expr::IfNil(_, yes, no) => {
                    open.extend([(*yes, grows), (*no, grows)])
                }
                Expr::Do(parts) => open.extend(parts.last().map(|last| (*last, grows))),
                Expr::Let(_, body) => open.push((*body, grows)),
                _ => {}
            }
        }
        found
    }

    /// The built-in of a call that adds something to its first argument.
    fn adding(&mut self, callee: ExprId, arguments: &[ExprId]) -> Option<Builtin> {
        let builtin = self.builtin_of(callee)?;
        adds(builtin, arguments.len()).then_some(builtin)
    }

    /// Whether a call adds an item to the list at a key of its first argument: `(update m k (fnil conj []) x)`, `(update m k conj x)`.
    fn gathers(&mut self, callee: ExprId, arguments: &[ExprId]) -> bool {
        let &[_, _, function, _] = arguments else {
            return false;
        };
        if self.builtin_of(callee) != Some(Builtin::Update) {
            return false;
        }
        if self.builtin_of(function) == Some(Builtin::Conj) {
            return true;
        }
        let source = self.source;
        let Expr::Call(made, parts) = &source.exprs[function as usize] else {
            return false;
        };
        let &[conj, default] = parts.as_slice() else {
            return false;
        };
        let is_empty =
            matches!(&source.exprs[default as usize], Expr::Vector(items) if items.is_empty());
        is_empty
            && self.builtin_of(*made) == Some(Builtin::Fnil)
            && self.builtin_of(conj) == Some(Builtin::Conj)
    }

    /// Compiles such a call. Where the list does not grow beside the map, the call is made as it stands.
    fn gather(&mut self, arguments: &[ExprId]) {
        let &[map, key, function, item] = arguments else {
            return;
        };
        let before = self.current.next_slot;
        let (base, added) = (self.slot(), self.slot());
        let (at, what) = (self.slot(), self.slot());
        let end = self.label();
        let update = self.builtin_constant(Builtin::Update);
        self.then([
            CompileTask::Grow(map),
            CompileTask::Expr(key),
            CompileTask::Expr(item),
            CompileTask::Emit(Other::Gather(end).instr()),
            CompileTask::Store(what),
            CompileTask::Store(at),
            CompileTask::Store(added),
            CompileTask::Store(base),
            CompileTask::Emit(Instr::Const(update)),
            CompileTask::Emit(Other::Whole { base, added }.instr()),
            CompileTask::Emit(Instr::Slot(at)),
            CompileTask::Expr(function),
            CompileTask::Emit(Instr::Slot(what)),
            CompileTask::Emit(Instr::Invoke(4)),
            CompileTask::Emit(Instr::Const(EMPTY_LIST)),
            CompileTask::Place(end),
            CompileTask::Leave(before),
        ]);
    }

    /// Where the value of a parameter or of a loop is.
    pub(super) fn place_of_jump(&mut self, pattern: &Pattern) -> LocalPlace {
        let slot = self.slot();
        let Pattern::Local(local) = pattern else {
            return LocalPlace::Slot(slot);
        };
        let place = match self.growing.contains(*local) {
            true => LocalPlace::Growing(slot, self.slot()),
            false => LocalPlace::Slot(slot),
        };
        self.places.insert(*local, place);
        place
    }

    /// Compiles an expression as a value that grows.
    pub(super) fn grow(&mut self, expr: ExprId) {
        let source = self.source;
        match &source.exprs[expr as usize] {
            Expr::Local(local) => {
                if let Some(LocalPlace::Growing(base, added)) = self.places.get(*local) {
                    return self.code.extend([Instr::Slot(base), Instr::Slot(added)]);
                }
            }
            Expr::Call(callee, arguments) => {
                if let Some(builtin) = self.adding(*callee, arguments) {
                    self.open_form(expr, true);
                    let others = arguments.len() as u32 - 1;
                    let mut tasks = vec![CompileTask::Grow(arguments[0])];
                    tasks.extend(arguments[1..].iter().map(|it| CompileTask::Expr(*it)));
                    let grow = Other::Grow { builtin, others }.instr();
                    tasks.push(CompileTask::Emit(grow));
                    return self.then(tasks);
                }
                if self.gathers(*callee, arguments) {
                    self.open_form(expr, true);
                    return self.gather(arguments);
                }
            }
            Expr::If(test, yes, no) => {
                self.open_form(expr, true);
                return self.branch(*test, None, (*yes, *no), CompileTask::Grow);
            }
            Expr::IfNil(test, yes, no) => {
                self.open_form(expr, true);
                let is_nil = Some(Other::IsNil.instr());
                return self.branch(*test, is_nil, (*yes, *no), CompileTask::Grow);
            }
            Expr::Do(parts) if !parts.is_empty() => {
                self.open_form(expr, true);
                return self.body(parts, CompileTask::Grow);
            }
            Expr::Let(bindings, body) => {
                self.open_form(expr, true);
                return self.let_form(bindings, CompileTask::Grow(*body));
            }
            _ => {}
        }
        self.then([
            CompileTask::Expr(expr),
            CompileTask::Emit(Instr::Const(EMPTY_LIST)),
        ]);
    }

    /// A `reduce` whose function is written there, and adds something to what it has so far: the accumulator, the pattern of the item, the
    /// body, and the function.
    fn reducing(
        &mut self,
        callee: ExprId,
        arguments: &[ExprId],
    ) -> Option<(LocalId, &'a Pattern, ExprId, u32)> {
        let source = self.source;
        let &[function, _, _] = arguments else {
            return None;
        };
        let Expr::Fn(function) = source.exprs[function as usize] else {
            return None;
        };
        let about = &source.functions[function as usize];
        let ([Pattern::Local(accumulator), item], None, None) =
            (about.params.as_slice(), &about.rest, about.own)
        else {
            return None;
        };
        let is_reduce = self.builtin_of(callee) == Some(Builtin::Reduce);
        let grows = is_reduce && self.grown_by(about.body).contains(accumulator);
        (grows && !self.jumps(about.body)).then_some((*accumulator, item, about.body, function))
    }

    /// Whether the body of a function jumps to its start.
    pub(super) fn jumps(&self, body: ExprId) -> bool {
        let mut open = vec![body];
        while let Some(expr) = open.pop() {
            match &self.source.exprs[expr as usize] {
                Expr::Recur(_) => return true,
                // Only the end of a body jumps, and that of a loop jumps to the loop.
                Expr::Loop(..) => {}
                expr => children(expr, &mut |child| open.push(child)),
            }
        }
        false
    }

    /// Compiles a `reduce` whose function adds something: as a loop. Returns false for any other call.
    pub(super) fn reduce(&mut self, callee: ExprId, arguments: &[ExprId]) -> bool {
        let Some((accumulator, item, body, function)) = self.reducing(callee, arguments) else {
            return false;
        };
        self.inlined.insert(function);
        let before = self.current.next_slot;
        let (rest, base, added) = (self.slot(), self.slot(), self.slot());
        let place = LocalPlace::Growing(base, added);
        self.places.insert(accumulator, place);
        let (next, done) = (self.label(), self.label());
        let mut tasks = vec![
            CompileTask::Expr(arguments[1]),
            CompileTask::Expr(arguments[2]),
            CompileTask::Emit(Other::ReduceItems.instr()),
            CompileTask::Store(rest),
            CompileTask::Store(base),
        ];
        tasks.extend(place.nothing_added());
        tasks.extend([
            CompileTask::Place(next),
            CompileTask::Emit(
                Other::NextItem {
                    slot: rest,
                    to: done,
                }
                .instr(),
            ),
            CompileTask::Bind(item),
            CompileTask::Grow(body),
            CompileTask::Store(added),
            CompileTask::Store(base),
            CompileTask::Emit(Instr::Jump(next)),
            CompileTask::Place(done),
            CompileTask::Emit(Other::Whole { base, added }.instr()),
            CompileTask::Leave(before),
        ]);
        self.then(tasks);
        true
    }
}
