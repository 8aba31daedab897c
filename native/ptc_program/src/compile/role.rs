//! What the compiler looks for in each term of a program.

use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::FieldKind;
use crate::shape::{Leaf, OpShape};

/// What the compiler looks for in a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// An operation, an object, or a list of them.
    Operation,
    /// An operation or an object.
    Element,
    /// A map whose values can be operations.
    Fields,
    /// An operation; any other term is a constant.
    Value,
    /// An operation, or an object or a list with operations in it.
    Template,
    /// A list of objects whose values can be operations.
    Rows,
    /// A name, or a list of names.
    Names,
    /// A key of a map.
    Key,
    /// Nothing.
    Constant,
}

impl Role {
    /// Returns what the compiler looks for in a field; `op` is `None` for an unknown operation.
    pub fn of_field(op: Option<OpCode>, name: &[u8], edition: Edition) -> Role {
        let Some(op) = op else {
            return Role::Constant;
        };
        let field = op
            .fields(edition)
            .iter()
            .find(|field| field.name.as_bytes() == name);
        match field.map(|field| field.kind) {
            Some(FieldKind::Expr | FieldKind::Operand | FieldKind::ExprList) => Role::Operation,
            Some(FieldKind::String | FieldKind::StringList | FieldKind::Pattern) => Role::Names,
            Some(FieldKind::Map) if op.shape() == OpShape::ObjectOfParts => Role::Fields,
            Some(FieldKind::Template | FieldKind::TemplateList | FieldKind::Parts) => {
                Role::Template
            }
            Some(FieldKind::TemplateMap | FieldKind::StringMap) => Role::Fields,
            Some(FieldKind::Text | FieldKind::NonEmptyText) => Role::Operation,
            Some(FieldKind::Cases | FieldKind::SortKeys) => Role::Rows,
            Some(FieldKind::Any) if op.shape() != OpShape::Leaf(Leaf::Constant) => Role::Value,
            _ => Role::Constant,
        }
    }
}
