//! Fields that an operation does not have. If the name is close to that of a missing field, the
//! field was mistyped, which is an error. Other unknown fields are errors only in a strict
//! program, and so are conditions that name no operation.

use super::compiler::{Compiler, Going};
use super::plan::Checked;
use super::{Plan, Rejection, Scope, INPUT_NAME};
use crate::opcode::OpCode;
use ptc_json::{Node, Shape};
use ptc_machine::fault::{Code, Fault};
use ptc_term::similar::closest;

/// Number of parts that the comparison of a name with the missing fields' names counts as.
const PARTS_A_NAME: usize = 8;

/// Maximum number of parts that are looked at in a condition.
const MOST_PARTS: usize = 64;

/// The fields that hold a condition, or a list of conditions.
const CONDITIONS: [&str; 3] = ["where", "condition", "conditions"];

impl Plan<'_, '_> {
    /// Returns the fault of a strict program where the value of a condition is an object that names no operation: it is
    /// always true.
    pub(super) fn condition_without_op(&mut self) -> Checked<Option<Rejection>> {
        if !self.is_strict() {
            return Ok(None);
        }
        let names = self
            .op
            .fields(self.edition())
            .iter()
            .map(|field| field.name);
        for name in names.filter(|name| CONDITIONS.contains(name)) {
            let Some(node) = self.field(name) else {
                continue;
            };
            let parts = match self.shape(node) {
                Shape::List => self.elements(node)?,
                _ => vec![node],
            };
            for part in parts {
                if let Some(object) = self.object_of(part)? {
                    let fault =
                        Fault::new(Code::ConditionWithoutOp, Some(self.op.name()), vec![object]);
                    return Ok(Some(fault.about(name)));
                }
            }
        }
        Ok(None)
    }

    /// Returns an object without operation that can be the value of a condition: the condition itself, the last
    /// step of a `pipe`, a branch of an `if` or the body of a `let`.
    fn object_of(&mut self, condition: Node) -> Checked<Option<Node>> {
        let (source, edition) = (self.source(), self.edition());
        let mut open = vec![condition];
        for _ in 0..MOST_PARTS {
            let Some(part) = open.pop() else { break };
            if !source.is_map(part) {
                continue;
            }
            let Some(name) = source.field(part, "op") else {
                return Ok(Some(part));
            };
            match source
                .text(name)
                .and_then(|it| OpCode::from_name(it, edition))
            {
                Some(OpCode::Pipe) => {
                    let steps = source.field(part, "steps");
                    if let Some(steps) = steps.filter(|it| self.shape(*it) == Shape::List) {
                        open.extend(self.elements(steps)?.last());
                    }
                }
                Some(OpCode::If) => open.extend(
                    ["else", "then"]
                        .map(|it| source.field(part, it))
                        .into_iter()
                        .flatten(),
                ),
                Some(OpCode::Let) => open.extend(source.field(part, "in")),
                _ => {}
            }
        }
        Ok(None)
    }
}

impl Compiler<'_> {
    /// Checks for fields that the operation does not have, after its own fields.
    pub(super) fn unknown_fields(&mut self, node: Node, op: OpCode, scope: Scope) -> Going {
        let source = self.source;
        let known = op.fields(self.walk.edition);
        let is_known = |name: &[u8]| known.iter().any(|field| field.name.as_bytes() == name);
        let mut others = self.sorted_entries(node)?;
        others.retain(|(key, _)| match source.text(*key) {
            Some(b"op") => false,
            Some(name) if name == INPUT_NAME.as_bytes() => false,
            Some(name) => !is_known(name),
            None => true,
        });
        let missing: Vec<&'static str> = known
            .iter()
            .map(|field| field.name)
            .filter(|name| source.field(node, name).is_none())
            .collect();
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
        match others.first() {
            Some((key, _)) if self.walk.strict => {
                let fault = Fault::new(Code::UnknownField, Some(op.name()), self.named(*key));
                self.reject(scope, fault)
            }
            _ => Ok(()),
        }
    }
}
