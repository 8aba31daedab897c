//! Errors that a check finds.

use super::CheckFrame;
use crate::PathPart;
use ptc_type::{Mismatch, Types};

/// The kind of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A value of another type, or a field that cannot occur any more.
    Mismatch(Mismatch),
    /// A value that breaks a rule of its type, or that no type of a union takes.
    Rule,
    /// A key that a closed map must not have.
    Unexpected,
    /// A list where only an object is allowed.
    NotAnObject,
    /// An object that does not wrap the list.
    NotWrapped,
    /// Invalid JSON; the offset.
    Syntax(usize),
    /// Text before the JSON.
    Prose,
}

/// An error with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The path from the root.
    pub path: Vec<PathPart>,
    /// The kind of error.
    pub what: What,
}

/// Returns the path of the current value.
pub(super) fn path(types: &Types, frames: &[CheckFrame]) -> Vec<PathPart> {
    let segment = |frame: &CheckFrame| match frame {
        CheckFrame::List { begun, .. } => Some(PathPart::Index(begun.saturating_sub(1))),
        CheckFrame::Map { field, .. } => {
            field.map(|field| PathPart::Name(types.field(field).name.into()))
        }
        CheckFrame::MapOf { keys, .. } => Some(PathPart::Name(keys.last.clone())),
        CheckFrame::Free | CheckFrame::Wrapper { .. } => None,
    };
    frames.iter().filter_map(segment).collect()
}
