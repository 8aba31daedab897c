//! Which of several mistakes is reported, and where.
//!
//! The walk finds mistakes in the order of evaluation. Where the order of the checks differs, the part is walked a second
//! time after a mistake, in that order.
//!
//! In a program that is not checked, an operation of edition 2 is checked when it is reached: a guard stands around it, and
//! a mistake inside makes the whole operation fail.

use super::compiler::{Compiler, Going};
use super::walk::{Guard, Step};
use super::{Failure, Rejection, Scope};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::Field;
use ptc_json::{Node, Shape};

impl Compiler<'_> {
    /// Returns the scope of an operation's fields: in a program that is not checked, a new operation is checked; an old
    /// one is guarded if it has new fields.
    pub(super) fn guarded(&mut self, node: Node, op: OpCode, scope: Scope, given: bool) -> Scope {
        let is_new = op.edition() == Edition::Two;
        let new = op.new_fields();
        let is_given = |(place, field): (usize, &Field)| {
            let value = || self.source.field(node, field.name);
            let counts = |it| field.takes_null() || self.source.shape(it) != Shape::Null;
            new >> place & 1 == 1 && value().is_some_and(counts)
        };
        if is_new || op.fields(Edition::Two).iter().enumerate().any(is_given) {
            let again = |guard: &Guard| guard.node == node && guard.mistake.is_some();
            if !self.walk.guards.last().is_some_and(again) {
                self.guard(node, scope, given);
            }
        }
        match is_new {
            true => scope.checked(),
            false => scope,
        }
    }

    fn guard(&mut self, node: Node, scope: Scope, given: bool) {
        let guard = Guard {
            node,
            scope,
            given,
            mistake: None,
            todo: self.walk.todo.len(),
            code: self.walk.code.len(),
            starts: self.walk.starts.len(),
            consts: self.walk.consts.len(),
            labels: self.walk.labels.len(),
            bindings: self.walk.bindings.count(),
            seen: self.walk.seen(),
        };
        self.walk.guards.push(guard);
    }

    /// Returns whether a part is walked again, in the order of the checks.
    pub(super) fn walks_again(&self) -> bool {
        match self.walk.guards.last() {
            Some(guard) => guard.mistake.is_some(),
            None => self.walk.mistake.is_some(),
        }
    }

    /// Handles a mistake. Returns it if the walk ends with it.
    pub(super) fn mistaken(&mut self, fault: Rejection) -> Going {
        if self.walk.edition == Edition::One {
            return Err(Failure::Rejected(fault));
        }
        let again = self.walks_again();
        match self.walk.guards.last_mut() {
            None if again => return Err(Failure::Rejected(fault)),
            None => {
                self.walk.mistake = Some(Box::new(fault));
                self.start_again();
            }
            Some(_) if again => self.fail_guarded(fault)?,
            Some(guard) => {
                guard.mistake = Some(fault);
                let (node, scope, given) = (guard.node, guard.scope, guard.given);
                self.go_back();
                self.walk.todo.push(Step::Unguard);
                self.walk.todo.push(Step::Visit { node, scope, given });
            }
        }
        Ok(())
    }

    /// Returns to the start of the walk.
    fn start_again(&mut self) {
        let (node, scope) = self.walk.root;
        let given = false;
        self.walk.todo.clear();
        self.walk.truncate_code(0);
        self.walk.starts.clear();
        self.walk.consts.clear();
        self.walk.labels.clear();
        self.unbind_behind(0);
        self.walk.forget_sites();
        self.walk.todo.push(Step::Visit { node, scope, given });
    }

    /// Returns to the start of the innermost guarded part.
    fn go_back(&mut self) {
        let Some(guard) = self.walk.guards.last().cloned() else {
            return;
        };
        self.walk.todo.truncate(guard.todo);
        self.walk.truncate_code(guard.code);
        self.walk.starts.truncate(guard.starts);
        self.walk.consts.truncate(guard.consts);
        self.walk.labels.truncate(guard.labels);
        self.unbind_behind(guard.bindings);
        self.walk.go_back(guard.seen);
    }

    fn unbind_behind(&mut self, count: usize) {
        while let Some(name) = self.walk.bindings.last_behind(count) {
            let name = name.text(self.source).unwrap_or_default();
            self.walk.bindings.unbind(name);
        }
    }

    /// Makes the innermost guarded part fail.
    fn fail_guarded(&mut self, fault: Rejection) -> Going {
        self.go_back();
        match self.walk.guards.pop() {
            Some(guard) => self.reject(guard.scope, fault),
            None => Err(Failure::Rejected(fault)),
        }
    }

    /// Ends the innermost guard. A part that was walked again, and in which nothing was found then, fails with what was
    /// found first.
    pub(super) fn unguard(&mut self) -> Going {
        match self
            .walk
            .guards
            .last_mut()
            .and_then(|guard| guard.mistake.take())
        {
            Some(fault) => self.fail_guarded(fault),
            None => {
                self.walk.guards.pop();
                Ok(())
            }
        }
    }
}
