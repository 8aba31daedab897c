//! What an observed operation consists of: the parts that could be operations, and the keys that it looks up.

use super::compiler::Compiler;
use super::observer::Part;
use crate::code::ConstId;
use crate::opcode::OpCode;
use crate::ops::FieldKind;
use crate::shape::{Comparison, OpShape};
use ptc_json::{Node, Shape};
use ptc_vm::{explain::Keys, explain::PathPart};

impl Compiler<'_> {
    /// Returns the parts of an operation that could be operations.
    pub(super) fn parts(&mut self, node: Node, op: OpCode, implicit: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        if implicit {
            self.entries(node, None, &mut parts);
            return parts;
        }
        for field in op.fields(self.walk.edition) {
            let Some(value) = self.source.field(node, field.name) else {
                continue;
            };
            let name = Some(field.name);
            match (field.kind, self.source.shape(value)) {
                (FieldKind::ExprList | FieldKind::TemplateList | FieldKind::Parts, Shape::List) => {
                    let before = parts.len();
                    let elements = self.source.elements(value).zip(0..);
                    parts.extend(elements.map(|(node, index)| Part {
                        node,
                        field: name,
                        inside: Some(PathPart::Index(index)),
                        around: None,
                    }));
                    self.uncounted += parts.len() - before;
                }
                (FieldKind::Map | FieldKind::TemplateMap, Shape::Map) => {
                    self.entries(value, name, &mut parts)
                }
                (FieldKind::Cases | FieldKind::SortKeys, Shape::List) => {
                    self.rows(value, field.name, &mut parts)
                }
                (FieldKind::Expr | FieldKind::Operand, _)
                | (FieldKind::Any | FieldKind::Parts, Shape::Map)
                | (
                    FieldKind::Template | FieldKind::Text | FieldKind::NonEmptyText,
                    Shape::Map | Shape::List,
                ) => parts.push(Part {
                    node: value,
                    field: name,
                    inside: None,
                    around: None,
                }),
                _ => {}
            }
        }
        parts
    }

    /// Adds the elements of a list of objects, each with its entries.
    fn rows(&mut self, list: Node, field: &'static str, parts: &mut Vec<Part>) {
        for (row, index) in self.source.elements(list).zip(0..) {
            let around = parts.len();
            parts.push(Part {
                node: row,
                field: Some(field),
                inside: Some(PathPart::Index(index)),
                around: None,
            });
            self.entries(row, None, parts);
            for part in &mut parts[around + 1..] {
                part.around = Some(around);
            }
        }
    }

    fn entries(&mut self, map: Node, field: Option<&'static str>, parts: &mut Vec<Part>) {
        self.uncounted += self.source.size(map);
        let entries = self.source.entries(map).into_iter();
        parts.extend(entries.map(|(key, node)| Part {
            node,
            field,
            inside: Some(PathPart::Key(key)),
            around: None,
        }));
    }

    /// Returns the keys that an operation looks up, by the field names that all operations
    /// share.
    pub(super) fn keys(&mut self, node: Node, op: OpCode, implicit: bool) -> Keys {
        let has = |name: &str| {
            op.fields(self.walk.edition)
                .iter()
                .any(|field| field.name == name)
        };
        let source = self.source;
        let strings = |list: Node| match source.shape(list) {
            Shape::String => vec![list],
            Shape::List => source.elements(list).collect(),
            _ => vec![],
        };
        let names = ["field", "fields", "path"].into_iter();
        for name in names.filter(|name| !implicit && has(name)) {
            let keys = self.source.field(node, name).map_or(vec![], strings);
            let is_key = |key: &Node| match source.shape(*key) {
                Shape::String => true,
                // An index in a path.
                Shape::Integer { .. } => name == "path",
                _ => false,
            };
            if keys.iter().all(is_key) && !keys.is_empty() {
                let first = self.walk.consts.len() as ConstId;
                self.uncounted += keys.len();
                self.walk.consts.extend(&keys);
                let (count, path) = (keys.len() as u32, name == "path");
                let in_rows = looks_at_rows(op);
                return Keys {
                    first,
                    count,
                    path,
                    in_rows,
                    from: None,
                };
            }
        }
        Keys::default()
    }
}

/// Returns whether an operation over a list looks its keys up in the items, and not in the list itself.
fn looks_at_rows(op: OpCode) -> bool {
    use Comparison::{Contains, Equal, In, Order};
    !matches!(
        op.shape(),
        OpShape::Read | OpShape::Compared(Equal(_) | Order(_) | Contains | In)
    )
}
