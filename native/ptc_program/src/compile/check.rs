//! Field checks of an operation, as its field table declares them.

use super::plan::{Checked, Plan};
use super::walk::Step;
use crate::edition::Edition;
use crate::fault::Code;
use crate::opcode::OpCode;
use crate::ops::{Field, FieldKind, Presence};
use ptc_json::{Node, Shape};

impl Plan<'_, '_> {
    /// Checks the fields one after the other: first presence, then content. A field that is an
    /// operation is checked when that operation is compiled. Returns the number of fields present. In
    /// a checked part, required operations count as present: if one is missing, the walk ends.
    pub(super) fn check_fields(&mut self) -> Checked<usize> {
        let mut present = 0;
        let mut is_expected = false;
        let checked = self.scope.checked;
        let new = match self.edition() {
            Edition::One => 0,
            Edition::Two => self.op.new_fields(),
        };
        for (place, field) in self.known().iter().enumerate() {
            // A field that edition 2 brought is checked in any part.
            self.scope.checked = checked || new >> place & 1 == 1;
            let checked_later = field.kind.is_operation() && field.presence == Presence::Required;
            if self.scope.checked && checked_later {
                present += 1;
                self.scope.checked = checked;
                continue;
            }
            let node = self.field_at(place);
            present += usize::from(node.is_some());
            if self.scope.checked {
                self.check_field(field, node, is_expected)?;
            }
            is_expected |= node.is_none() && field.presence == Presence::Expected;
            self.scope.checked = checked;
        }
        Ok(present)
    }

    /// Plans the search for fields that the operation does not have, if there can be any, after all
    /// other checks. `present`: how many of its own fields the part has.
    pub fn unknown_fields(&mut self, node: Node, op: OpCode, present: usize) {
        // One of the part's fields is `op`.
        let others = self.source().size(node) > present + 1;
        if others && (present < op.fields(self.edition()).len() || self.is_strict()) {
            self.later(Step::Unknown {
                node,
                op,
                list: None,
                scope: self.scope,
            });
        }
    }

    /// Checks a field. `is_expected`: an expected field before it is missing. If this one is missing too, the
    /// fault has a term, because ptc_runner names the other field.
    pub(super) fn check_field(
        &mut self,
        field: &Field,
        node: Option<Node>,
        is_expected: bool,
    ) -> Checked<()> {
        let name = field.name;
        let shaped = node.map(|node| (node, self.shape(node)));
        let given = match field.presence {
            Presence::NotNull | Presence::Expected => {
                shaped.filter(|(_, shape)| *shape != Shape::Null)
            }
            Presence::Required
            | Presence::Alternative
            | Presence::Optional
            | Presence::Nullable => shaped,
        };
        let Some((node, shape)) = given else {
            return match field.presence {
                Presence::Required | Presence::NotNull => {
                    let others = if is_expected {
                        vec![self.nil()]
                    } else {
                        vec![]
                    };
                    self.report(Code::FieldMissing, name, others)
                }
                Presence::Expected
                | Presence::Alternative
                | Presence::Optional
                | Presence::Nullable => Ok(()),
            };
        };
        let wrong = match (field.kind, shape) {
            (FieldKind::Any | FieldKind::Expr | FieldKind::Operand | FieldKind::Template, _) => {
                return Ok(())
            }
            (kind, _) if kind.is_new() => return self.check_new_field(field, node, shape),
            (FieldKind::String, Shape::String) => return Ok(()),
            (FieldKind::Map, Shape::Map | Shape::Struct) => return Ok(()),
            (FieldKind::ExprList, Shape::List) => return Ok(()),
            (FieldKind::Count, Shape::Integer { negative: false }) => return Ok(()),
            (FieldKind::Order, Shape::Null) => return Ok(()),
            (FieldKind::StringList, Shape::List) => {
                let elements = self.elements(node)?;
                // An integer in a path is looked up like a `key`.
                let indices = self.edition() == Edition::Two && name == "path";
                let is_key = |part: &Node| match self.shape(*part) {
                    Shape::String => true,
                    Shape::Integer { .. } => indices,
                    _ => false,
                };
                match elements.iter().all(is_key) {
                    true => return Ok(()),
                    false if indices => Code::FieldNotKeys,
                    false => Code::FieldNotStrings,
                }
            }
            (FieldKind::Order, _) => match self.source().text(node) {
                Some(b"asc" | b"desc") => return Ok(()),
                _ => Code::UnknownOrder,
            },
            (FieldKind::String, _) => Code::FieldNotString,
            (FieldKind::Map, _) => Code::FieldNotMap,
            (FieldKind::ExprList | FieldKind::StringList, _) => Code::FieldNotList,
            (FieldKind::Count, Shape::Integer { negative: true }) => Code::FieldNegative,
            (FieldKind::Count, _) => Code::FieldNotInteger,
            (_, _) => return Ok(()),
        };
        let terms = match wrong {
            Code::FieldNegative | Code::UnknownOrder => vec![node],
            _ => vec![],
        };
        self.report(wrong, name, terms)
    }
}
