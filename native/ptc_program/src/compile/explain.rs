//! Compilation of a program that is observed: marks around each operation, and its path.
//!
//! The marks are instructions, so they also separate the instructions of two operations: nothing is
//! fused or tallied across them, and each operation is executed as written.

use super::compiler::Compiler;
use super::observer::{OpenOperation, Part};
use super::{Plan, Scope};
use crate::code::{Instr, Slot};
use crate::opcode::OpCode;
use crate::shape::{Aggregate, Chosen, OpShape, TextOf, Which};
use ptc_json::{Node, Shape};
use ptc_vm::explain::{Detail, Mark, PathPart, Role, Site};

impl Compiler<'_> {
    /// Notes the position of a part that is visited next.
    #[cold]
    pub(super) fn locate(&mut self, node: Node) {
        let Some(mut observer) = self.walk.observer.take() else {
            return;
        };
        observer.at = match observer.open.last_mut() {
            Some(around) => Some(self.path_in(around, node)),
            None => Some(Vec::new()),
        };
        self.walk.observer = Some(observer);
    }

    /// Forgets the position of a part that was wrong, where the walk continues.
    #[cold]
    pub(super) fn forget_place(&mut self) {
        if let Some(observer) = &mut self.walk.observer {
            observer.at = None;
        }
    }

    /// Opens the operation at the noted position.
    #[cold]
    pub(super) fn open(&mut self, node: Node, op: OpCode, scope: Scope, implicit: bool) {
        let Some(mut observer) = self.walk.observer.take() else {
            return;
        };
        let path = observer.at.take().unwrap_or_default();
        let number = observer.sites.len() as u32;
        let site = Site {
            name: op.name(),
            parent: observer.open.last().map(|open| open.site),
            path,
            input: op.shape().sees_input().then_some(scope.input),
            keys: self.keys(node, op, implicit),
            role: role(op),
        };
        let has = |name| {
            self.source
                .field(node, name)
                .is_some_and(|part| self.source.shape(part) != Shape::Null)
        };
        let all = observer.detail == Detail::All;
        if site.input.is_some() && (all || keeps_items(op)) {
            self.walk.code.push(Instr::Watch(Mark::Input(number)));
        }
        match (site.keys.count > 0, site.role) {
            // What `get` reads from is not evaluated yet, see `note_keys`.
            (true, _) if op.shape() == OpShape::Read && has("from") => {}
            (true, _) => self.walk.code.push(Instr::Watch(Mark::Keys(number))),
            // For a value that is given see `note_value`.
            (false, Role::Converts) if !has("value") => {
                self.walk.code.push(Instr::Watch(Mark::Current(number)))
            }
            _ => {}
        }
        if all {
            self.walk.code.push(Instr::Watch(Mark::Enter(number)));
        }
        observer.sites.push(site);
        observer.open.push(OpenOperation {
            site: number,
            op,
            parts: self.parts(node, op, implicit),
            next: 0,
            places: Default::default(),
            placed: 0,
        });
        self.walk.observer = Some(observer);
    }

    /// Closes the innermost operation.
    #[cold]
    pub(super) fn close(&mut self) {
        let Some(observer) = &mut self.walk.observer else {
            return;
        };
        let Some(OpenOperation { site, op, .. }) = observer.open.pop() else {
            return;
        };
        let all = observer.detail == Detail::All;
        if role(op) == Role::Converts {
            self.walk.code.push(Instr::Watch(Mark::Made(site)));
        }
        if all || keeps_items(op) {
            self.walk.code.push(Instr::Watch(Mark::Output(site)));
        }
        if all {
            self.walk.code.push(Instr::Watch(Mark::Leave(site)));
        }
    }

    /// Returns the path of a part from the operation around it.
    fn path_in(&mut self, around: &mut OpenOperation, node: Node) -> Vec<PathPart> {
        let mut path = Vec::new();
        let mut next = around.find(node);
        while let Some(Part {
            field,
            inside,
            around: outer,
            ..
        }) = next.map(|at| around.parts[at])
        {
            path.extend(inside.map(|part| match part {
                PathPart::Field(name) => PathPart::Field(name),
                PathPart::Index(index) => PathPart::Index(index),
                PathPart::Key(key) => PathPart::Key(self.constant(key)),
            }));
            path.extend(field.map(PathPart::Field));
            next = outer;
        }
        path.reverse();
        path
    }

    /// Notes the parts of a template that is an object or a list.
    #[cold]
    pub(super) fn note_parts(&mut self, node: Node) {
        let Some(open) = self
            .walk
            .observer
            .as_mut()
            .and_then(|it| it.open.last_mut())
        else {
            return;
        };
        // The fields of an operation are known.
        let Some(around) = open.find(node) else {
            return;
        };
        let inside: Vec<_> = match self.source.shape(node) {
            Shape::Map => {
                let entries = self.source.entries(node).into_iter();
                entries
                    .map(|(key, node)| (node, PathPart::Key(key)))
                    .collect()
            }
            _ => {
                let elements = self.source.elements(node).zip(0..);
                elements
                    .map(|(node, index)| (node, PathPart::Index(index)))
                    .collect()
            }
        };
        self.uncounted += inside.len();
        // They are visited next.
        open.next = open.parts.len();
        open.parts
            .extend(inside.into_iter().map(|(node, inside)| Part {
                node,
                field: None,
                inside: Some(inside),
                around: Some(around),
            }));
    }
}

impl Plan<'_, '_> {
    /// Lets the keys of the innermost operation be looked up in the value of a slot, which has been stored.
    pub fn note_keys(&mut self, slot: Slot) {
        let Some(site) = self.site() else {
            return;
        };
        site.keys.from = Some(slot);
        if site.keys.count > 0 {
            let number = self.number_of_site();
            self.emit(Instr::Watch(Mark::Keys(number)));
        }
    }

    /// Counts the value on the stack as one that the innermost operation is given, if that matters for its role.
    pub fn note_value(&mut self) {
        if self.site().is_some_and(|site| site.role != Role::Other) {
            let number = self.number_of_site();
            self.emit(Instr::Watch(Mark::Value(number)));
        }
    }

    fn number_of_site(&self) -> u32 {
        let observer = self.compiler.walk.observer.as_ref();
        observer
            .and_then(|it| it.open.last())
            .map_or(0, |open| open.site)
    }

    fn site(&mut self) -> Option<&mut Site> {
        let observer = self.compiler.walk.observer.as_mut()?;
        let site = observer.open.last()?.site;
        observer.sites.get_mut(site as usize)
    }
}

/// Returns what an operation does with the values that it is given.
fn role(op: OpCode) -> Role {
    match op.shape() {
        OpShape::Text(TextOf::Number | TextOf::Extract) => Role::Converts,
        OpShape::Aggregate(Aggregate::Count | Aggregate::Decided) => Role::Other,
        OpShape::Aggregate(_) | OpShape::Item(Which::Keyed) => Role::Totals,
        _ => Role::Other,
    }
}

/// Returns whether an operation keeps some items of a list.
fn keeps_items(op: OpCode) -> bool {
    matches!(
        op.shape(),
        OpShape::Subset(Chosen::Where(_) | Chosen::Among)
    )
}
