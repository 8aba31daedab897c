//! Templates: values in which objects that name an operation are evaluated, at any depth.
//!
//! A template without operations becomes one constant. This is found from its end: an object or a list whose parts are
//! all constants is one.

use super::compiler::{Compiler, Going};
use super::walk::{Parts, Step};
use super::{Plan, Scope};
use crate::code::{Apply, ConstId, Demand, Instr, NO_CONST};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::compare;
use ptc_json::{Document, Node, Shape};
use ptc_vm::program::Branches;

impl Plan<'_, '_> {
    /// Evaluates a part that is a template.
    pub fn template(&mut self, node: Node, scope: Scope) {
        match self.shape(node) {
            Shape::Map | Shape::List if !self.is_simple(node) || self.names_operation(node) => {
                self.later(Step::Template(node, scope))
            }
            _ => {
                let id = self.constant(node);
                self.emit(Instr::Const(id));
            }
        }
    }

    /// Evaluates several templates, one after the other. Those that call tools may run at the same time.
    pub fn templates(&mut self, parts: &[Node], scope: Scope) {
        let is_evaluated = |part: &&Node| {
            let has_parts = matches!(self.shape(**part), Shape::Map | Shape::List);
            has_parts && (!self.is_simple(**part) || self.names_operation(**part))
        };
        if parts.iter().filter(is_evaluated).take(2).count() < 2 {
            for part in parts {
                self.template(*part, scope);
            }
            return;
        }
        for part in parts {
            self.later(Step::TemplatePart(*part, scope));
        }
        self.later(Step::Branches(parts.len() as u32));
    }

    /// Evaluates a field, which must be there, and is a template.
    pub fn template_of(&mut self, name: &'static str, scope: Scope) {
        match self.field(name) {
            Some(node) => self.template(node, self.scope_of(name, scope)),
            None => self.expr_in(name, scope, false),
        }
    }

    /// Evaluates a field that holds an operation in edition 1, and a template in edition 2.
    pub fn branch(&mut self, name: &'static str, scope: Scope) {
        match self.edition() {
            Edition::One => self.expr_in(name, scope, false),
            Edition::Two => self.template_of(name, scope),
        }
    }

    /// Evaluates the templates of an object, in ascending order of their keys, and makes a map of their values. The object
    /// itself names no operation.
    pub fn template_map(&mut self, map: Node, scope: Scope) {
        match self.is_simple(map) {
            true => {
                let id = self.constant(map);
                self.emit(Instr::Const(id));
            }
            false => self.later(Step::TemplateMap(map, scope)),
        }
    }

    /// Returns whether a part contains no objects and no lists, so that it is a constant without further steps.
    fn is_simple(&self, node: Node) -> bool {
        !self.is_observed() && self.source().is_flat(node)
    }

    fn names_operation(&self, node: Node) -> bool {
        is_node(self.source(), node)
    }
}

/// The evaluation of an operation that combines `count` operands.
pub(super) fn building(op: OpCode, count: usize, key: ConstId, mode: u32) -> Apply {
    Apply {
        op,
        input: crate::code::INPUT,
        operands: count as u32,
        key,
        value: NO_CONST,
        mode,
        demand: Demand::All,
    }
}

/// Returns whether a part is an object that names an operation in a template.
pub(super) fn is_node(source: &Document, node: Node) -> bool {
    let name = |node| source.field(node, "op");
    source.is_map(node) && name(node).is_some_and(|name| source.shape(name) == Shape::String)
}

impl Compiler<'_> {
    /// Compiles a template: an operation, or the parts of an object or a list.
    pub(super) fn template(&mut self, node: Node, scope: Scope) -> Going {
        match is_node(self.source, node) {
            true => self.visit(node, scope, false),
            false => self.data(node, scope),
        }
    }

    /// Compiles a template that names no operation.
    pub(super) fn data(&mut self, node: Node, scope: Scope) -> Going {
        if self.walk.observer.is_some() && self.source.has_parts(node) {
            self.note_parts(node);
        }
        let (code, consts) = (self.walk.code.len() as u32, self.walk.consts.len() as u32);
        let starts = self.walk.starts.len() as u32;
        let apply = match self.source.shape(node) {
            Shape::Map => {
                let entries = self.sorted_entries(node)?;
                let long = entries.iter().any(|(key, _)| self.source.is_long(*key));
                let keys = entries.iter().map(|(key, _)| *key);
                self.walk.consts.extend(keys);
                let values = entries.iter().map(|(_, value)| *value);
                let values = values.map(|value| Step::TemplatePart(value, scope));
                self.walk.todo.extend(values);
                building(
                    OpCode::IMPLICIT_OBJECT,
                    entries.len(),
                    consts,
                    u32::from(long),
                )
            }
            Shape::List => {
                self.count(self.source.length(node))?;
                let elements = self.source.elements(node);
                let before = self.walk.todo.len();
                let elements = elements.map(|element| Step::TemplatePart(element, scope));
                self.walk.todo.extend(elements);
                let count = self.walk.todo.len() - before;
                building(OpCode::IMPLICIT_LIST, count, NO_CONST, 0)
            }
            _ => {
                let id = self.constant(node);
                self.walk.code.push(Instr::Const(id));
                return Ok(());
            }
        };
        self.walk.todo.push(Step::Build(Parts {
            node,
            apply,
            code,
            consts,
            starts,
        }));
        Ok(())
    }

    /// Builds the value of an object or a list from its parts.
    pub(super) fn build(&mut self, parts: Parts) {
        let Parts {
            node,
            apply,
            code,
            consts,
            starts,
        } = parts;
        let parts = &self.walk.code[code as usize..];
        let is_const = |instr: &Instr| matches!(instr, Instr::Const(_));
        // The value of `literal` is a constant, but the part that holds it is not its value.
        let is_data = |part: Node| !is_node(self.source, part);
        let constant = parts.len() == apply.operands as usize
            && parts.iter().all(is_const)
            && match self.source.shape(node) {
                Shape::Map => self.source.pairs(node).all(|(_, part)| is_data(part)),
                _ => self.source.elements(node).all(is_data),
            };
        self.uncounted += parts.len().min(apply.operands as usize);
        if constant {
            self.walk.truncate_code(code as usize);
            self.walk.consts.truncate(consts as usize);
            let id = self.constant(node);
            self.walk.code.push(Instr::Const(id));
        } else {
            if self.walk.calls_tools {
                self.note_branches(starts as usize);
            }
            self.walk.code.push(Instr::Apply(apply));
        }
        self.walk.starts.truncate(starts as usize);
    }

    /// Ends the evaluation of the last `count` parts.
    pub(super) fn end_branches(&mut self, count: usize) {
        let first = self.walk.starts.len().saturating_sub(count);
        if self.walk.calls_tools {
            self.note_branches(first);
        }
        self.walk.starts.truncate(first);
    }

    /// Notes that the parts of a template may run at the same time if several of them call tools.
    #[cold]
    fn note_branches(&mut self, first: usize) {
        let walk = &mut *self.walk;
        let end = walk.code.len();
        let is_call = |at: &usize| matches!(walk.code[*at], Instr::Call { .. });
        let calls = (walk.scanned..end).filter(is_call).map(|at| at as u32);
        walk.calls.extend(calls.collect::<Vec<_>>());
        walk.scanned = end;
        let starts = &walk.starts[first..];
        let next = |at: usize| starts.get(at + 1).copied().unwrap_or(end as u32);
        let calls = &walk.calls;
        let before = |address: u32| calls.partition_point(|call| *call < address);
        let has_call = |at: &usize| before(starts[*at]) < before(next(*at));
        if (0..starts.len()).filter(has_call).take(2).count() == 2 {
            walk.branches.push(Branches {
                starts: starts.to_vec(),
                end: end as u32,
            });
        }
    }

    /// Compares the current value, or what stands on the stack, with the value that was compiled last. If that is a
    /// constant, it becomes a part of the instruction.
    pub(super) fn compare(&mut self, mut apply: Apply) {
        let code = &mut self.walk.code;
        if let (Some(Instr::Const(id)), true) = (code.last(), self.walk.marked != code.len() as u32)
        {
            apply.value = *id;
            apply.operands -= 1;
            apply.mode = compare::mode_of(self.source, self.walk.consts[*id as usize], apply.mode);
            code.pop();
            let before = code.last();
            if matches!(before, Some(Instr::Expect { op, .. }) if *op == apply.op) {
                code.pop();
            }
        }
        code.push(Instr::Apply(apply));
    }
}
