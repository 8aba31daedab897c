//! Field checks of edition 2: the kinds of fields that it brought, and checks in ascending order of the fields.

use super::compiler::{Compiler, Going};
use super::given::Given;
use super::plan::Checked;
use super::walk::Step;
use super::{parts, Failure, Plan, Scope};
use crate::edition::Edition;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use crate::ops::{Field, FieldKind};
use ptc_json::{Entry, Node, Shape};

const NEW_NAMES: &str = "All new names in 'fields' must be strings";

impl Plan<'_, '_> {
    /// Checks a field of a kind that edition 2 brought.
    pub(super) fn check_new_field(
        &mut self,
        field: &Field,
        node: Node,
        shape: Shape,
    ) -> Checked<()> {
        let (name, entry) = (field.name, self.source().entry(node));
        let (code, field, terms) = match (field.kind, shape) {
            (FieldKind::SortKeys, Shape::List) if self.source().elements(node).next().is_none() => {
                (Code::FieldWrong, field.must_be, vec![])
            }
            (
                FieldKind::TemplateList | FieldKind::Parts | FieldKind::Cases | FieldKind::SortKeys,
                Shape::List,
            ) => return Ok(()),
            (FieldKind::Parts, Shape::Map) if self.is_operation(node) => return Ok(()),
            (
                FieldKind::TemplateList | FieldKind::Parts | FieldKind::Cases | FieldKind::SortKeys,
                _,
            ) => (Code::FieldNotList, name, vec![]),
            (FieldKind::TemplateMap, Shape::Map) => return Ok(()),
            (FieldKind::StringMap, Shape::Map) => {
                let entries = self.entries(node)?;
                let is_string = |(_, value): &(Node, Node)| self.shape(*value) == Shape::String;
                if entries.iter().all(is_string) {
                    return Ok(());
                }
                (Code::PartWrong, NEW_NAMES, vec![])
            }
            (FieldKind::TemplateMap | FieldKind::StringMap, _) => (Code::FieldNotMap, name, vec![]),
            (FieldKind::NonEmptyText, Shape::String) if self.source().text(node) == Some(b"") => {
                (Code::FieldWrong, field.must_be, vec![])
            }
            (FieldKind::Text | FieldKind::NonEmptyText, Shape::String) => return Ok(()),
            (FieldKind::Text | FieldKind::NonEmptyText, Shape::Map) if self.is_operation(node) => {
                return Ok(())
            }
            (FieldKind::Pattern, Shape::String) => return self.check_pattern(node),
            (FieldKind::Text | FieldKind::NonEmptyText | FieldKind::Pattern, _) => {
                (Code::FieldNotString, name, vec![])
            }
            (FieldKind::Choice, shape) if shape != Shape::String => {
                (Code::FieldNotString, name, vec![])
            }
            (FieldKind::Choice, _) => {
                let text = self.source().text(node);
                if field
                    .choices
                    .iter()
                    .any(|choice| text == Some(choice.as_bytes()))
                {
                    return Ok(());
                }
                (Code::FieldWrong, field.must_be, vec![node])
            }
            (FieldKind::Boolean, _) if self.boolean(node).is_some() => return Ok(()),
            (FieldKind::Positive, Shape::Integer { negative: false }) if entry != Entry::Int(0) => {
                return Ok(())
            }
            (FieldKind::Percent, _) if is_percent(entry) => return Ok(()),
            (FieldKind::Places, _) if matches!(entry, Entry::Int(0..=20)) => return Ok(()),
            _ => (Code::FieldWrong, field.must_be, vec![]),
        };
        let fault = Fault::new(code, Some(self.op.name()), terms);
        Err(Failure::Rejected(fault.about(field)))
    }

    /// Returns the value of `true` or `false`.
    pub fn boolean(&self, node: Node) -> Option<bool> {
        match self.source().entry(node) {
            Entry::Bool(value) => Some(value),
            _ => None,
        }
    }
}

fn is_percent(entry: Entry) -> bool {
    match entry {
        Entry::Int(number) => (0..=100).contains(&number),
        Entry::Float(number) => (0.0..=100.0).contains(&number),
        _ => false,
    }
}

impl Compiler<'_> {
    /// Checks the fields of an operation in ascending order, each with the operations in it.
    pub(super) fn in_order(&mut self, node: Node, op: OpCode, scope: Scope) -> Going {
        let given = Given::of(self.source, node, op, self.walk.edition);
        op.check(&Plan::new(self, node, given, scope, false))?;
        let fields = op.fields(Edition::Two).iter().zip(0..);
        let steps = fields.map(|(_, field)| Step::InOrder {
            owner: node,
            op,
            field,
            scope,
        });
        self.walk.todo.extend(steps);
        if scope.checked {
            self.other_fields_in_order(node, op, None, scope);
        }
        Ok(())
    }

    /// Checks last for fields that an operation does not have, or an object in this list of it.
    fn other_fields_in_order(
        &mut self,
        node: Node,
        op: OpCode,
        list: Option<FieldKind>,
        scope: Scope,
    ) {
        let is_list = |field: &&'static Field| Some(field.kind) == list;
        self.walk.todo.push(Step::Unknown {
            node,
            op,
            list: op.fields(Edition::Two).iter().find(is_list),
            scope,
        });
    }

    /// Checks one field, and the operations in it.
    pub(super) fn field_in_order(
        &mut self,
        owner: Node,
        op: OpCode,
        field: u32,
        scope: Scope,
    ) -> Going {
        let field = &op.fields(Edition::Two)[field as usize];
        let given = Given::of(self.source, owner, op, self.walk.edition);
        let mut plan = Plan::new(self, owner, given, scope, false);
        let scope = plan.scope_of(field.name, scope);
        // In a part that is not checked, what edition 1 had is not checked either.
        if !scope.checked {
            return Ok(());
        }
        plan.scope = scope;
        let given = plan.field(field.name);
        plan.check_field(field, given, false)?;
        match given {
            Some(given) => self.part_in_order(op, field.kind, given, scope),
            None => Ok(()),
        }
    }

    /// Checks the operations in a field, or in a part of one.
    pub(super) fn part_in_order(
        &mut self,
        op: OpCode,
        kind: FieldKind,
        part: Node,
        scope: Scope,
    ) -> Going {
        let given = false;
        let visit = |node| Step::Visit { node, scope, given };
        let source = self.source;
        let shape = source.shape(part);
        match kind {
            FieldKind::Operand if matches!(shape, Shape::Integer { .. } | Shape::Float) => {}
            FieldKind::Text | FieldKind::NonEmptyText if shape == Shape::String => {}
            FieldKind::Expr | FieldKind::Operand | FieldKind::Text | FieldKind::NonEmptyText => {
                self.walk.todo.push(visit(part))
            }
            FieldKind::Template => self.walk.todo.push(Step::Template(part, scope)),
            FieldKind::TemplateMap => {
                let entries = self.sorted_entries(part)?;
                let steps = entries
                    .iter()
                    .map(|(_, value)| Step::Template(*value, scope));
                self.walk.todo.extend(steps);
            }
            FieldKind::Parts if shape != Shape::List => self.walk.todo.push(visit(part)),
            FieldKind::ExprList | FieldKind::TemplateList | FieldKind::Parts => {
                self.count(source.length(part))?;
                let step = |node| match kind {
                    FieldKind::ExprList => visit(node),
                    _ => Step::Template(node, scope),
                };
                self.walk.todo.extend(source.elements(part).map(step));
            }
            FieldKind::Cases | FieldKind::SortKeys if shape == Shape::List => {
                self.count(source.length(part))?;
                let step = |node| Step::PartInOrder(op, kind, node, scope);
                self.walk.todo.extend(source.elements(part).map(step));
            }
            FieldKind::Cases => {
                let (when, then) = parts::case(source, part)?;
                self.walk.todo.push(Step::Template(then, scope));
                self.walk.todo.push(visit(when));
                self.other_fields_in_order(part, op, Some(kind), scope);
            }
            FieldKind::SortKeys => {
                let key = parts::sort_key(source, op, part)?;
                let order = key
                    .order
                    .map(|order| Step::PartInOrder(op, FieldKind::Order, order, scope));
                self.walk.todo.extend(key.expr.map(visit));
                self.walk.todo.extend(order);
                self.other_fields_in_order(part, op, Some(kind), scope);
            }
            FieldKind::Order => parts::check_order(source, op, Some(part))?,
            _ => {}
        }
        Ok(())
    }
}
