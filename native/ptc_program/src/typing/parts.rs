//! The types of constants.

use super::ty::TyId;
use super::walk::TypeWalk;
use ptc_json::{Document, Entry, Node, Shape};

impl TypeWalk {
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
    pub(super) fn scalar(&mut self, source: &Document, node: Node) -> TyId {
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
