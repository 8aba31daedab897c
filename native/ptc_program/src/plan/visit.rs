//! A part of the program that is visited next, and what stands there.

use super::sets::SetId;
use super::value::ValueId;
use crate::opcode::OpCode;
use crate::typing::names::NameId;
use ptc_json::Node;

/// How a part is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAs {
    /// As an operation, or an object.
    Expr,
    /// As an operation if it names one, else as a constant.
    Value,
    /// As a template.
    Template,
    /// As an object or a list whose values are templates.
    Templates,
    /// The same with values that are operations or constants.
    Values,
    /// The same with constants.
    Constants,
    /// As a constant.
    Constant,
}

/// What stands at a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PartKind {
    /// An operation; `true` for an object that names none.
    Op(OpCode, bool),
    /// An object or a list, whose parts are read in a way.
    Data(ReadAs),
}

/// How often a part is evaluated when the operation around it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Once.
    Always,
    /// Once or never.
    Maybe,
    /// It is one of several, of which one is evaluated.
    Branch,
    /// Once for each item.
    Each,
    /// For each item until one decides.
    Until,
}

/// A part that is visited next.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToVisit {
    pub node: Node,
    pub how: ReadAs,
    /// The field that it stands in.
    pub field: &'static str,
    /// Its key, if it is a value of an object.
    pub key: Node,
    pub input: ValueId,
    /// Whether the operation around it sets the current value.
    pub given: bool,
    pub bind: Option<(NameId, ValueId)>,
    pub when: When,
    /// What decides whether it is evaluated, beside what decides about the operation.
    pub guard: SetId,
}
