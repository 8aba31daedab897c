//! The fields of an operation that are given.

use super::INPUT_NAME;
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::Field;
use ptc_json::{Document, Node, Shape};

/// Maximum number of fields of an operation.
pub(crate) const MOST_FIELDS: usize = 6;

/// Returns the index of a field in a table. Most names differ in length or in their first byte.
#[inline]
pub(super) fn place_of(fields: &[Field], name: &[u8]) -> Option<usize> {
    fields.iter().position(|field| {
        let known = field.name.as_bytes();
        known.len() == name.len() && known.first() == name.first() && known == name
    })
}

/// An operation, and what is given of its fields.
pub(crate) struct Given {
    /// The operation.
    pub op: OpCode,
    /// The fields in the order of its table.
    pub(crate) fields: [Option<Node>; MOST_FIELDS],
    /// The part's own current value.
    pub input: Option<Node>,
}

impl Given {
    /// Looks for all fields of an operation in one pass. Of equal keys the first one counts.
    pub fn of(source: &Document, node: Node, op: OpCode, edition: Edition) -> Self {
        let known = op.fields(edition);
        let (mut fields, mut input, mut seen) = ([None; MOST_FIELDS], None, 0u8);
        for (key, value) in source.pairs(node) {
            let Some(key) = source.text(key) else {
                continue;
            };
            match place_of(known, key) {
                Some(place) => {
                    let is_first = seen >> place & 1 == 0;
                    // In edition 2, null in an optional field counts as absent.
                    let is_null = edition == Edition::Two && source.shape(value) == Shape::Null;
                    if is_first && !(is_null && known[place].may_be_absent()) {
                        fields[place] = Some(value);
                    }
                    seen |= 1 << place;
                }
                None if key == INPUT_NAME.as_bytes() => input = input.or(Some(value)),
                None => {}
            }
        }
        Given { op, fields, input }
    }
}
