//! Fields that an operation does not have. If the name is close to that of a missing field, the
//! field was mistyped, which is an error. Other unknown fields are errors only in a strict
//! program.

use super::compiler::{Compiler, Going};
use super::{Scope, INPUT_NAME};
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use crate::program::Const;
use crate::similar::closest;
use crate::source::Source;

/// Number of parts that the comparison of a name with the missing fields' names counts as.
const PARTS_A_NAME: usize = 8;

impl<S: Source> Compiler<'_, S> {
    /// Checks for fields that the operation does not have, after its own fields.
    pub(super) fn unknown_fields(&mut self, node: S::Node, op: OpCode, scope: Scope) -> Going<S> {
        self.count(self.source.size(node))?;
        let source = self.source;
        let known = op.fields();
        let is_known = |name: &[u8]| known.iter().any(|field| field.name.as_bytes() == name);
        let mut others = source.entries(node);
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
                let fault = Fault::new(Code::UnknownField, Some(op), vec![Const::Node(*key)]);
                return self.reject(scope, fault.about(meant));
            }
        }
        match others.first() {
            Some((key, _)) if self.walk.strict => {
                let fault = Fault::new(Code::UnknownField, Some(op), vec![Const::Node(*key)]);
                self.reject(scope, fault)
            }
            _ => Ok(()),
        }
    }
}
