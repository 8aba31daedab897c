//! Type checks of a value while it is read; it stops at the first error.

use super::answer_type::{AnswerType, Fit};
use crate::signature::names::is_firewalled;
use crate::signature::{Fields, Got, Mismatch, Scalar, Target, Type, TypeId};

/// The first token of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    String,
    Number,
    Bool,
    Null,
    Object,
    Array,
}

impl Start {
    fn got(self) -> Got {
        match self {
            Start::String => Got::String,
            Start::Number => Got::Int,
            Start::Bool => Got::Bool,
            Start::Null => Got::Keyword,
            Start::Object => Got::Map,
            Start::Array => Got::List,
        }
    }
}

/// The remaining check of a value whose beginning is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Free,
    /// A number without fraction and exponent.
    Integer,
    /// A string that can be the name of a keyword.
    Keyword,
    /// A number where another type was expected: the error must name the kind of number.
    Unwanted(Target),
}

/// A step of the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// The declared name of a field, or an undeclared key.
    Name(Box<[u8]>),
    /// An index in a list, from 0.
    Index(usize),
}

/// The kind of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A value of another type, or a field that cannot occur any more.
    Mismatch(Mismatch),
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
    pub path: Vec<Segment>,
    /// The kind of error.
    pub what: What,
}

#[derive(Debug)]
enum CheckFrame {
    /// The content is not checked.
    Free,
    List {
        holds: TypeId,
        /// Number of elements that have begun.
        begun: usize,
    },
    Map {
        fields: Fields,
        closed: bool,
        /// The field whose value is next, if it counts.
        field: Option<usize>,
        /// The field that is probably next.
        hint: usize,
        /// The start of its part of `seen`.
        seen: usize,
        /// A key could not be compared: any later key may be its duplicate.
        unsure: bool,
    },
    /// The object around a list.
    Wrapper { items: Items },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Items {
    Missing,
    Next,
    Seen,
}

/// The position in the types.
#[derive(Debug)]
pub(super) struct Checker {
    answer_type: AnswerType,
    frames: Vec<CheckFrame>,
    /// For each field of each open map: whether a key for it, or one like it, was seen.
    seen: Vec<bool>,
    mistake: Option<Mistake>,
}

/// The expectation for the next value.
enum Asked {
    Nothing,
    Root,
    Items,
    Type(TypeId),
}

impl Checker {
    pub(super) fn new(answer_type: AnswerType) -> Self {
        Checker {
            answer_type,
            frames: Vec::new(),
            seen: Vec::new(),
            mistake: None,
        }
    }

    pub(super) fn answer_type(&self) -> &AnswerType {
        &self.answer_type
    }

    pub(super) fn take_mistake(&mut self) -> Option<Mistake> {
        self.mistake.take()
    }

    pub(super) fn has_mistake(&self) -> bool {
        self.mistake.is_some()
    }

    /// Handles the beginning of a value.
    #[inline]
    pub(super) fn value(&mut self, start: Start) -> Rest {
        let asked = match self.frames.last_mut() {
            None => Asked::Root,
            Some(CheckFrame::Free) => Asked::Nothing,
            Some(CheckFrame::List { holds, begun }) => {
                *begun += 1;
                Asked::Type(*holds)
            }
            Some(CheckFrame::Map { field, .. }) => match field {
                Some(field) => Asked::Type(self.answer_type.holds(*field)),
                None => Asked::Nothing,
            },
            Some(CheckFrame::Wrapper {
                items: Items::Next, ..
            }) => Asked::Items,
            Some(CheckFrame::Wrapper { .. }) => Asked::Nothing,
        };
        match asked {
            Asked::Nothing => self.enter(start, CheckFrame::Free),
            Asked::Type(id) => return self.typed(start, id),
            Asked::Root => match (start, self.answer_type.is_list()) {
                (Start::Object, true) => {
                    let items = Items::Missing;
                    self.enter(start, CheckFrame::Wrapper { items });
                }
                (Start::Object, false) | (Start::Array, true) => {
                    return self.typed(start, self.answer_type.root())
                }
                _ => {
                    self.wrong(What::NotAnObject);
                    self.enter(start, CheckFrame::Free);
                }
            },
            Asked::Items => {
                if let Some(CheckFrame::Wrapper { items, .. }) = self.frames.last_mut() {
                    *items = Items::Seen;
                }
                if start == Start::Array {
                    return self.typed(start, self.answer_type.root());
                }
                self.wrong(What::NotWrapped);
                self.enter(start, CheckFrame::Free);
            }
        }
        Rest::Free
    }

    #[inline]
    fn typed(&mut self, start: Start, id: TypeId) -> Rest {
        let (of, nullable) = self.answer_type.required(id);
        let mut frame = CheckFrame::Free;
        let wanted = match (of, start) {
            (_, Start::Null) if nullable => None,
            _ if AnswerType::is_free(of) => None,
            (Type::Scalar(scalar), _) => match (scalar, start) {
                (Scalar::Int, Start::Number) => return Rest::Integer,
                (Scalar::Keyword, Start::String) => return Rest::Keyword,
                (Scalar::String | Scalar::DateTime, Start::String)
                | (Scalar::Float, Start::Number)
                | (Scalar::Bool, Start::Bool)
                | (Scalar::Keyword, Start::Bool | Start::Null)
                | (Scalar::Map, Start::Object) => None,
                (scalar, _) => Some(Target::Scalar(scalar)),
            },
            (Type::List(holds), Start::Array) => {
                frame = CheckFrame::List { holds, begun: 0 };
                None
            }
            (Type::List(_), _) => Some(Target::List),
            (Type::Map { fields, closed }, Start::Object) => {
                frame = self.map(fields, closed);
                None
            }
            (Type::Map { .. }, _) => Some(Target::Map),
            (Type::Optional(_) | Type::Unknown(_), _) => None,
        };
        match wanted {
            Some(wanted) if start == Start::Number => return Rest::Unwanted(wanted),
            Some(wanted) => self.not_wanted(wanted, start.got()),
            None => {}
        }
        self.enter(start, frame);
        Rest::Free
    }

    fn map(&mut self, fields: Fields, closed: bool) -> CheckFrame {
        let seen = self.seen.len();
        self.seen.resize(seen + fields.range().len(), false);
        CheckFrame::Map {
            fields,
            closed,
            field: None,
            hint: fields.start as usize,
            seen,
            unsure: false,
        }
    }

    #[inline]
    fn enter(&mut self, start: Start, frame: CheckFrame) {
        if matches!(start, Start::Object | Start::Array) {
            self.frames.push(frame);
        }
    }

    /// Reports a value that turned out to have another type.
    pub(super) fn not_wanted(&mut self, expected: Target, got: Got) {
        self.wrong(What::Mismatch(Mismatch { expected, got }));
    }

    /// Handles a key; `None` if it has escapes.
    #[inline]
    pub(super) fn key(&mut self, key: Option<&[u8]>) {
        match self.frames.last_mut() {
            Some(CheckFrame::Map {
                fields,
                field,
                hint,
                seen,
                unsure,
                closed,
            }) => {
                let Some(key) = key else {
                    *unsure = true;
                    *field = None;
                    return;
                };
                let Some((found, fit)) = self.answer_type.field(*fields, key, *hint) else {
                    *field = None;
                    if *closed && self.mistake.is_none() {
                        let mut path = path(&self.answer_type, &self.frames);
                        // The content of a firewalled field is not shown, keys included.
                        let hides = |segment: &Segment| match segment {
                            Segment::Name(name) => is_firewalled(name),
                            Segment::Index(_) => false,
                        };
                        if !path.iter().any(hides) {
                            path.push(Segment::Name(key.into()));
                        }
                        let what = What::Unexpected;
                        self.mistake = Some(Mistake { path, what });
                    }
                    return;
                };
                *hint = found + 1;
                let place = *seen + self.answer_type.group(found) - fields.start as usize;
                let first = !std::mem::replace(&mut self.seen[place], true);
                *field = (first && fit == Fit::Best && !*unsure).then_some(found);
            }
            Some(CheckFrame::Wrapper { items }) => match (key, &items) {
                (Some(b"items"), Items::Missing) => *items = Items::Next,
                (None, Items::Missing) => *items = Items::Seen,
                _ => {}
            },
            _ => {}
        }
    }

    /// Handles the end of the innermost list or map.
    #[inline]
    pub(super) fn close(&mut self) {
        match self.frames.pop() {
            Some(CheckFrame::Map {
                fields,
                seen,
                unsure,
                ..
            }) => {
                if !unsure {
                    self.missing(fields, seen);
                }
                self.seen.truncate(seen);
            }
            Some(CheckFrame::Wrapper {
                items: Items::Missing,
            }) => self.wrong(What::NotWrapped),
            _ => {}
        }
    }

    fn missing(&mut self, fields: Fields, seen: usize) {
        let start = fields.start as usize;
        let is_missing = |field: &usize| {
            !self.seen[seen + self.answer_type.group(*field) - start]
                && !self.answer_type.is_optional(*field)
        };
        if let Some(field) = fields.range().find(is_missing) {
            if self.mistake.is_none() {
                let mut path = path(&self.answer_type, &self.frames);
                path.push(Segment::Name(self.answer_type.name(field).into()));
                let what = What::Mismatch(Mismatch::MISSING);
                self.mistake = Some(Mistake { path, what });
            }
        }
    }

    #[cold]
    fn wrong(&mut self, what: What) {
        if self.mistake.is_none() {
            let path = path(&self.answer_type, &self.frames);
            self.mistake = Some(Mistake { path, what });
        }
    }
}

/// Returns the path of the current value.
fn path(answer_type: &AnswerType, frames: &[CheckFrame]) -> Vec<Segment> {
    let segment = |frame: &CheckFrame| match frame {
        CheckFrame::List { begun, .. } => Some(Segment::Index(begun.saturating_sub(1))),
        CheckFrame::Map { field, .. } => {
            field.map(|field| Segment::Name(answer_type.name(field).into()))
        }
        CheckFrame::Free | CheckFrame::Wrapper { .. } => None,
    };
    frames.iter().filter_map(segment).collect()
}
