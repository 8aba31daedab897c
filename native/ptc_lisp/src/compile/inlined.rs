//! Built-ins that call a function which is written there: as loops, in which the body of the function stands.
//!
//! Nothing is called for an item then, and the body reads the locals around it in their slots.

use super::task::CompileTask;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, FunctionId, Pattern};
use crate::code::{Instr, Other, Own};
use crate::consts::EMPTY_LIST;
use crate::table::Builtin;
use ptc_vm::program::Slot;

/// A function that is written where it is called: its parameters and its body.
struct Written<'a> {
    function: FunctionId,
    params: &'a [Pattern],
    body: ExprId,
}

impl<'a> Compiler<'a> {
    /// Compiles a call of such a built-in. Returns false for any other call.
    pub(super) fn inlined(&mut self, builtin: Builtin, arguments: &[ExprId]) -> bool {
        let (params, initial, coll) = match (builtin, arguments) {
            (
                Builtin::Map
                | Builtin::Mapv
                | Builtin::Filter
                | Builtin::Filterv
                | Builtin::Remove
                | Builtin::Keep,
                &[_, coll],
            ) => (1, None, coll),
            (Builtin::Reduce, &[_, coll]) => (2, None, coll),
            (Builtin::Reduce, &[_, initial, coll]) => (2, Some(initial), coll),
            _ => return false,
        };
        let Some(written) = self.written(arguments[0], params) else {
            return false;
        };
        self.inlined.insert(written.function);
        match params {
            1 => self.visiting(builtin, &written, coll),
            _ => self.folding(&written, initial, coll),
        }
        true
    }

    /// The function that an expression is, if it has so many parameters and does not jump to its start.
    fn written(&self, function: ExprId, count: usize) -> Option<Written<'a>> {
        let source = self.source;
        let Expr::Fn(function) = source.exprs[function as usize] else {
            return None;
        };
        let about = &source.functions[function as usize];
        let plain = about.rest.is_none() && about.own.is_none() && about.params.len() == count;
        (plain && !self.jumps(about.body)).then_some(Written {
            function,
            params: &about.params,
            body: about.body,
        })
    }

    /// Takes a slot for a parameter; returns what binds the pattern, if it is one.
    fn place_of_param(&mut self, pattern: &'a Pattern) -> (Slot, Vec<CompileTask<'a>>) {
        let slot = self.slot();
        match pattern {
            Pattern::Local(local) => {
                self.places.insert(*local, LocalPlace::Slot(slot));
                (slot, Vec::new())
            }
            pattern => {
                let whole = CompileTask::Emit(Instr::Slot(slot));
                (slot, vec![whole, CompileTask::Bind(pattern)])
            }
        }
    }

    /// `map`, `filter` and others: what they keep is collected.
    fn visiting(&mut self, builtin: Builtin, written: &Written<'a>, coll: ExprId) {
        let before = self.current.next_slot;
        let (rest, kept) = (self.slot(), self.slot());
        let (item, bind) = self.place_of_param(&written.params[0]);
        let (next, done, some) = (self.label(), self.label(), self.label());
        let visit = Own::Visit {
            slot: rest,
            item,
            to: done,
        };
        self.then_all(|tasks| {
            tasks.extend([
                CompileTask::Expr(coll),
                CompileTask::Emit(Other::Sequence(builtin).instr()),
                CompileTask::Store(rest),
                CompileTask::Emit(Instr::Const(EMPTY_LIST)),
                CompileTask::Store(kept),
                CompileTask::Place(next),
                CompileTask::Emit(Instr::Own(visit)),
            ]);
            tasks.extend(bind);
            tasks.push(CompileTask::Expr(written.body));
            match builtin {
                Builtin::Filter | Builtin::Filterv | Builtin::Remove => {
                    let when = builtin == Builtin::Remove;
                    tasks.extend([
                        CompileTask::Emit(Instr::JumpIf { when, to: next }),
                        CompileTask::Emit(Instr::Slot(item)),
                    ]);
                }
                Builtin::Keep => tasks.extend([
                    CompileTask::Emit(Instr::JumpIfSome(some)),
                    CompileTask::Emit(Instr::Jump(next)),
                    CompileTask::Place(some),
                ]),
                _ => {}
            }
            tasks.extend([
                CompileTask::Emit(Instr::Own(Own::Collect(kept))),
                CompileTask::Emit(Instr::Jump(next)),
                CompileTask::Place(done),
                CompileTask::Emit(
                    Other::Collected {
                        from: kept,
                        into: rest,
                    }
                    .instr(),
                ),
                CompileTask::Leave(before),
            ]);
        });
    }

    /// `reduce`: without a value to start with, it starts with the first item, or is nil.
    fn folding(&mut self, written: &Written<'a>, initial: Option<ExprId>, coll: ExprId) {
        let before = self.current.next_slot;
        let rest = self.slot();
        let (value, bind_value) = self.place_of_param(&written.params[0]);
        let (item, bind_item) = self.place_of_param(&written.params[1]);
        let (next, done) = (self.label(), self.label());
        let visit = |item| {
            CompileTask::Emit(Instr::Own(Own::Visit {
                slot: rest,
                item,
                to: done,
            }))
        };
        self.then_all(|tasks| {
            tasks.extend(initial.map(CompileTask::Expr));
            tasks.push(CompileTask::Expr(coll));
            tasks.push(CompileTask::Emit(match initial {
                Some(_) => Other::ReduceItems.instr(),
                None => Other::Sequence(Builtin::Reduce).instr(),
            }));
            tasks.push(CompileTask::Store(rest));
            match initial {
                Some(_) => tasks.push(CompileTask::Store(value)),
                None => tasks.extend([
                    CompileTask::Emit(Instr::Nil),
                    CompileTask::Store(value),
                    visit(value),
                ]),
            }
            tasks.extend([CompileTask::Place(next), visit(item)]);
            tasks.extend(bind_value);
            tasks.extend(bind_item);
            tasks.extend([
                CompileTask::Expr(written.body),
                CompileTask::Store(value),
                CompileTask::Emit(Instr::Jump(next)),
                CompileTask::Place(done),
                CompileTask::Emit(Instr::Slot(value)),
                CompileTask::Leave(before),
            ]);
        });
    }
}
