//! Parts of a plan: the cases of a `switch`, and the keys of a sort.

use super::plan::Checked;
use super::walk::Label;
use super::{Failure, Plan};
use crate::code::Instr;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use ptc_json::{Document, Node, Shape};

const CASE: &str = "Each case in 'cases' must have 'when' and 'then'";
const SORT_KEY: &str = "All elements in 'by' must be maps";

/// One of several keys that a list is sorted by.
pub struct SortKey {
    /// The field that is read.
    pub field: Option<Node>,
    /// The expression that is evaluated in its place.
    pub expr: Option<Node>,
    /// The order.
    pub order: Option<Node>,
}

impl Plan<'_, '_> {
    /// Jumps to the label if the value on the stack is not nil, else drops it.
    pub fn jump_if_some(&mut self, label: Label) {
        self.emit(Instr::JumpIfSome(label.0));
    }

    /// Returns `when` and `then` of a case.
    pub fn case(&mut self, case: Node) -> Checked<(Node, Node)> {
        let parts = self::case(self.source(), case)?;
        self.unknown_fields_of(case);
        Ok(parts)
    }

    /// Returns the parts of one of several keys.
    pub fn sort_key(&mut self, key: Node) -> Checked<SortKey> {
        let parts = sort_key(self.source(), self.op, key)?;
        check_order(self.source(), self.op, parts.order)?;
        self.unknown_fields_of(key);
        Ok(parts)
    }
}

/// Returns `when` and `then` of a case of a `switch`.
pub(super) fn case(source: &Document, case: Node) -> Checked<(Node, Node)> {
    let field = |name| source.field(case, name).filter(|_| source.is_map(case));
    match (field("when"), field("then")) {
        (Some(when), Some(then)) => Ok((when, then)),
        _ => reject(Fault::new(Code::PartWrong, None, vec![]).about(CASE)),
    }
}

/// Returns the parts of one of several keys of a sort; its order is not checked.
pub(super) fn sort_key(source: &Document, op: OpCode, key: Node) -> Checked<SortKey> {
    if !source.is_map(key) {
        return reject(Fault::new(Code::PartWrong, None, vec![]).about(SORT_KEY));
    }
    let given = |name| source.field(key, name);
    let given = |name| given(name).filter(|part| source.shape(*part) != Shape::Null);
    let fault = |code| Fault::new(code, Some(op.name()), vec![]);
    let key = SortKey {
        field: given("field"),
        expr: given("expr"),
        order: given("order"),
    };
    match (key.field, key.expr) {
        (Some(_), Some(_)) => reject(fault(Code::Accepts).about("'field' or 'expr', not both")),
        (None, None) => reject(fault(Code::FieldMissing).about("field")),
        (Some(field), None) if source.shape(field) != Shape::String => {
            reject(fault(Code::FieldNotString).about("field"))
        }
        _ => Ok(key),
    }
}

/// Checks the order of one of several keys.
pub(super) fn check_order(source: &Document, op: OpCode, order: Option<Node>) -> Checked<()> {
    match order {
        Some(order) if !matches!(source.text(order), Some(b"asc" | b"desc")) => {
            let name = Some(op.name());
            let fault = Fault::new(Code::UnknownOrder, name, vec![order]);
            reject(fault.about("order"))
        }
        _ => Ok(()),
    }
}

fn reject<R>(fault: Fault<Node>) -> Checked<R> {
    Err(Failure::Rejected(fault))
}
