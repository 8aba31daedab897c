//! A part of a program, and how it is read.

use super::names::NameId;
use crate::compile::{Given, INPUT_NAME, MOST_FIELDS};
use crate::edition::Edition;
use crate::opcode::OpCode;
use ptc_json::{Document, Node};

/// Stands for a field that is not given.
pub(crate) const ABSENT: Node = Node::MAX;

/// How a part is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As an operation, or an object.
    Expr,
    /// As a number or an operation.
    Operand,
    /// As an operation if it names one, else as a constant.
    Value,
    /// As a template.
    Template,
    /// As an object or a list whose values are templates, also if one of its keys is `op`.
    Templates,
    /// As an object whose values are operations or constants.
    Values,
    /// As an object whose values are constants.
    Constants,
    /// As a constant.
    Constant,
}

/// What stands at a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation; `true` for an object that names none.
    Op(OpCode, bool),
    /// An object or a list, whose parts are read in a way.
    Data(How),
}

/// A part that is visited next. `V` is a value of the domain, `H` what the domain says of the part.
#[derive(Debug, Clone, Copy)]
pub struct NextPart<V, H> {
    /// The part.
    pub node: Node,
    /// How it is read.
    pub how: How,
    /// The field that it stands in.
    pub field: &'static str,
    /// Its key, if it is a value of an object.
    pub key: Node,
    /// Its current value.
    pub input: V,
    /// Whether the operation around it sets the current value.
    pub given: bool,
    /// A name that is bound in it.
    pub bind: Option<(NameId, V)>,
    /// What holds in it, for the domain.
    pub held: H,
}

/// A part that was visited.
#[derive(Debug, Clone, Copy)]
pub struct Visited<V> {
    /// The field that it stands in.
    pub field: &'static str,
    /// Its key, if it is a value of an object.
    pub key: Node,
    /// Its value.
    pub value: V,
}

/// What an object in the place of an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpAt {
    /// This operation.
    Is(OpCode),
    /// An object that names none.
    Implicit,
    /// Nothing that there is.
    None,
}

/// Returns what an object in the place of an operation is.
pub(crate) fn operation_of(source: &Document, node: Node, edition: Edition) -> OpAt {
    let Some(name) = source.field(node, "op") else {
        return OpAt::Implicit;
    };
    let op = source.text(name);
    match op.and_then(|name| OpCode::from_name(name, edition)) {
        Some(op) => OpAt::Is(op),
        None => OpAt::None,
    }
}

/// Returns the fields of an operation, and its own current value, if it has one.
pub(crate) fn fields_of(
    edition: Edition,
    source: &Document,
    node: Node,
    op: OpCode,
    implicit: bool,
) -> ([Node; MOST_FIELDS], Option<Node>) {
    if implicit {
        // An object that names no operation has the names of its fields only.
        return ([ABSENT; MOST_FIELDS], source.field(node, INPUT_NAME));
    }
    let given = Given::of(source, node, op, edition);
    let fields = given.fields.map(|field| field.unwrap_or(ABSENT));
    (fields, given.input)
}
