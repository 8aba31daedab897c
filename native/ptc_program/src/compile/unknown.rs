//! Fields that an operation does not have. If the name is close to that of a missing field, the
//! field was mistyped, which is an error. Other unknown fields are errors only in a strict
//! program, and so are conditions that name no operation.

use super::compiler::{Compiler, Going};
use super::plan::Checked;
use super::template::is_node;
use super::walk::Step;
use super::{Plan, Rejection, Scope, INPUT_NAME};
use crate::edition::Edition;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use crate::ops::{Field, FieldKind};
use crate::shape::{Branching, OpShape};
use ptc_json::{Node, Shape};
use ptc_term::similar::closest;

/// Number of parts that the comparison of a name with the missing fields' names counts as.
const PARTS_A_NAME: usize = 8;

/// Maximum number of parts that are looked at in a condition.
const MOST_PARTS: usize = 64;

/// The condition of a case.
const WHEN: &str = "when";

impl Plan<'_, '_> {
    /// Returns the fault of a strict program where the value of a condition is an object that names no operation: it is
    /// always true.
    pub(super) fn condition_without_op(&mut self) -> Checked<Option<Rejection>> {
        if !self.is_strict() {
            return Ok(None);
        }
        let fields = self.op.fields(self.edition()).iter();
        for field in fields.filter(|field| field.is_condition) {
            let Some(node) = self.field(field.name) else {
                continue;
            };
            let parts = match self.shape(node) {
                Shape::List => self.elements(node)?,
                _ => vec![node],
            };
            let source = self.source();
            for part in parts {
                let (condition, name) = match field.kind {
                    FieldKind::Cases => (source.field(part, WHEN), WHEN),
                    _ => (Some(part), field.name),
                };
                let object = match condition {
                    Some(condition) => self.object_of(condition)?,
                    None => None,
                };
                if let Some(object) = object {
                    let fault =
                        Fault::new(Code::ConditionWithoutOp, Some(self.op.name()), vec![object]);
                    return Ok(Some(fault.about(name)));
                }
            }
        }
        Ok(None)
    }

    /// Returns an object without operation that can be the value of a condition: the condition itself, the last
    /// step of a `pipe`, a branch of an `if` or a `switch`, a value of a `coalesce` or the body of a `let`.
    fn object_of(&mut self, condition: Node) -> Checked<Option<Node>> {
        let (source, edition) = (self.source(), self.edition());
        let mut open = vec![(condition, false)];
        for _ in 0..MOST_PARTS {
            let Some((part, template)) = open.pop() else {
                break;
            };
            if !source.is_map(part) {
                continue;
            }
            let name = source.field(part, "op");
            // In a template, an object whose `op` is no string is data.
            let Some(name) = name.filter(|_| !template || is_node(source, part)) else {
                return Ok(Some(part));
            };
            let given = |part: Node, name| source.field(part, name);
            match source
                .text(name)
                .and_then(|it| OpCode::from_name(it, edition))
                .map(OpCode::shape)
            {
                Some(OpShape::Chained) => {
                    let steps = self.parts_of(part, "steps")?;
                    open.extend(steps.last().map(|step| (*step, false)));
                }
                Some(OpShape::Branch(Branching::Two)) => open.extend(
                    (["else", "then"].into_iter())
                        .filter_map(|name| Some((given(part, name)?, edition == Edition::Two))),
                ),
                Some(OpShape::Branch(Branching::Cases)) => {
                    let cases = self.parts_of(part, "cases")?;
                    let values = cases.into_iter().map(|case| given(case, "then"));
                    let values = values.chain([given(part, "else")]).flatten();
                    open.extend(values.map(|value| (value, true)).rev());
                }
                Some(OpShape::FirstOf) => {
                    let values = self.parts_of(part, "values")?;
                    open.extend(values.into_iter().map(|value| (value, true)).rev());
                }
                Some(OpShape::Bind) => {
                    open.extend(given(part, "in").map(|it| (it, edition == Edition::Two)))
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the elements of a field of a part; none if it is no list.
    fn parts_of(&mut self, part: Node, name: &str) -> Checked<Vec<Node>> {
        match self.source().field(part, name) {
            Some(list) if self.shape(list) == Shape::List => self.elements(list),
            _ => Ok(vec![]),
        }
    }

    /// Plans the search for fields that an object in the operation's list of objects does not have.
    pub(super) fn unknown_fields_of(&mut self, part: Node) {
        let fields = self.op.fields(self.edition()).iter();
        let Some(list) = { fields }.find(|field| !field.kind.fields_of_parts().is_empty()) else {
            return;
        };
        let known = list.kind.fields_of_parts();
        let present = |name: &&&str| self.source().field(part, name).is_some();
        let present = known.iter().filter(present).count();
        if self.source().size(part) > present && (present < known.len() || self.is_strict()) {
            self.later(Step::Unknown {
                node: part,
                op: self.op,
                list: Some(list),
                scope: self.scope_of(list.name, self.scope),
            });
        }
    }
}

impl Compiler<'_> {
    /// Checks for fields that the operation, or an object in this list of it, does not have, after its own fields.
    pub(super) fn unknown_fields(
        &mut self,
        node: Node,
        op: OpCode,
        list: Option<&'static Field>,
        scope: Scope,
    ) -> Going {
        let source = self.source;
        let known: Vec<&'static str> = match list {
            Some(list) => list.kind.fields_of_parts().to_vec(),
            None => {
                let fields = op.fields(self.walk.edition).iter();
                fields.map(|field| field.name).collect()
            }
        };
        let is_known = |name: &[u8]| known.iter().any(|known| known.as_bytes() == name);
        let mut others = self.sorted_entries(node)?;
        others.retain(|(key, _)| match source.text(*key) {
            Some(b"op") => list.is_some(),
            Some(name) if name == INPUT_NAME.as_bytes() => list.is_some(),
            Some(name) => !is_known(name),
            None => true,
        });
        let is_missing = |name: &&'static str| source.field(node, name).is_none();
        let missing: Vec<_> = known.into_iter().filter(is_missing).collect();
        let longest = missing.iter().map(|name| name.len()).max().unwrap_or(0);
        for (key, _) in others.iter().filter(|_| !missing.is_empty()) {
            self.count(PARTS_A_NAME)?;
            let meant = source
                .text(*key)
                .and_then(|name| closest(name, missing.iter().copied(), longest));
            if let Some(meant) = meant {
                let fault = Fault::new(Code::UnknownField, Some(op.name()), self.named(*key));
                return self.reject(scope, fault.about(meant));
            }
        }
        let Some((key, _)) = others.first().filter(|_| self.walk.strict) else {
            return Ok(());
        };
        let fault = match list {
            Some(list) => {
                let fault = Fault::new(Code::UnknownPartField, Some(op.name()), vec![*key]);
                fault.about(list.name)
            }
            None => Fault::new(Code::UnknownField, Some(op.name()), self.named(*key)),
        };
        self.reject(scope, fault)
    }
}
