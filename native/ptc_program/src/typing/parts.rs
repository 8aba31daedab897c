//! What stands at a part of the program, and the types of its constants.

use super::ty::TyId;
use super::walk::{How, TypeWalk, What, ABSENT};
use crate::compile::{INPUT_NAME, MOST_FIELDS};
use crate::edition::Edition;
use crate::opcode::OpCode;
use ptc_json::{Document, Entry, Node, Shape};

impl TypeWalk {
    /// Returns what stands at a part, or its type if it has no parts that are visited.
    pub(super) fn what(&mut self, source: &Document, node: Node, how: How) -> Result<What, TyId> {
        let shape = source.shape(node);
        match (how, shape) {
            (How::Operand, Shape::Integer { .. } | Shape::Float) => Err(self.scalar(source, node)),
            (How::Expr | How::Operand, Shape::Map) => self.operation(source, node),
            (How::Expr | How::Operand, _) => Err(TyId::UNKNOWN),
            (How::Value, Shape::Map) => match source.field(node, "op") {
                Some(_) => self.operation(source, node),
                None => self.what(source, node, How::Constant),
            },
            (How::Value, _) => self.what(source, node, How::Constant),
            (How::Template, Shape::Map) => match source.field(node, "op") {
                Some(name) if source.shape(name) == Shape::String => self.operation(source, node),
                _ => self.data(source, node, How::Template),
            },
            (How::Arguments, Shape::Map) => self.data(source, node, How::Template),
            (how, Shape::Map | Shape::List) => self.data(source, node, how),
            _ => Err(self.scalar(source, node)),
        }
    }

    fn operation(&self, source: &Document, node: Node) -> Result<What, TyId> {
        match operation_of(source, node, self.edition) {
            OpAt::Is(op) => Ok(What::Op(op, false)),
            OpAt::Implicit => Ok(What::Op(OpCode::IMPLICIT_OBJECT, true)),
            OpAt::None => Err(TyId::UNKNOWN),
        }
    }

    fn data(&self, source: &Document, node: Node, how: How) -> Result<What, TyId> {
        match source.entry(node) {
            Entry::Object(..) => Ok(What::Data(how)),
            Entry::List(_, 0) => Err(TyId::EMPTY_LIST),
            Entry::List(..) => Ok(What::Data(how)),
            _ => Err(self.outside(source, node)),
        }
    }

    /// Returns the type of a part that the table does not contain.
    fn outside(&self, source: &Document, node: Node) -> TyId {
        match self.known.outside.get(&node) {
            Some(ty) => *ty,
            None => match source.shape(node) {
                Shape::Map => TyId::OBJECT,
                _ => TyId::UNKNOWN,
            },
        }
    }

    /// Returns the type of a constant without a look at its parts.
    pub(super) fn shallow(&mut self, source: &Document, node: Node) -> TyId {
        match source.entry(node) {
            Entry::Object(..) => TyId::OBJECT,
            Entry::List(..) => TyId::LIST,
            _ => self.scalar(source, node),
        }
    }

    /// Returns the type of a constant without parts.
    fn scalar(&mut self, source: &Document, node: Node) -> TyId {
        match source.entry(node) {
            Entry::Null => TyId::NULL,
            Entry::Bool(true) => TyId::TRUE,
            Entry::Bool(false) => TyId::FALSE,
            Entry::Int(value) => self.types.int(value),
            Entry::BigInt(..) => TyId::INT,
            Entry::Float(value) => self.types.float(value),
            Entry::Long(..) => TyId::TEXT,
            Entry::Str(..) | Entry::Unescaped(..) | Entry::Added(_) => {
                let text = source.text(node).unwrap_or_default();
                self.types.text(text)
            }
            Entry::Term(term) => match term.shape {
                Shape::Integer { .. } => TyId::INT,
                _ => self.outside(source, node),
            },
            Entry::List(..) | Entry::Object(..) => TyId::UNKNOWN,
        }
    }
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

/// Finds the fields of an operation, in one pass; returns its own current value, if it has one.
pub(crate) fn fields_of(
    edition: Edition,
    source: &Document,
    node: Node,
    op: OpCode,
    implicit: bool,
    found: &mut [Node; MOST_FIELDS],
) -> Option<Node> {
    let (fields, mut own) = (op.fields(edition), None);
    for (key, value) in source.pairs(node) {
        let Some(name) = source.text(key) else {
            continue;
        };
        if name == INPUT_NAME.as_bytes() {
            own = own.or(Some(value));
        }
        if implicit {
            // An object that names no operation has the names of its fields only.
            if own.is_some() {
                break;
            }
            continue;
        }
        let place = fields
            .iter()
            .position(|field| field.name.as_bytes() == name);
        if let Some(place) = place.filter(|place| found[*place] == ABSENT) {
            found[place] = value;
        }
    }
    // In edition 2, null in an optional field counts as absent.
    if edition == Edition::Two {
        for (place, field) in found.iter_mut().zip(fields) {
            if *place != ABSENT && field.may_be_absent() && source.shape(*place) == Shape::Null {
                *place = ABSENT;
            }
        }
    }
    own
}
