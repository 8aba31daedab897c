//! Type checks of a JSON value while it is read, up to the first error: of a stream, and of a repaired text.

use super::PathPart;
use ptc_json::{Sink, Text};
use ptc_term::names::{is_firewalled, is_keyword_name};
use ptc_term::stop::Stop;
use ptc_type::{AnswerType, Fields, Got, Json, Mismatch, Scalar, Target, Type, TypeId, Types};

/// The remaining check of a value whose beginning is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// Nothing.
    Free,
    /// A number without fraction and exponent.
    Integer,
    /// A string that can be the name of a keyword.
    Keyword,
    /// A number where another type was expected: the error must name the kind of number.
    Unwanted(Target),
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
    pub path: Vec<PathPart>,
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
pub(crate) struct Checker {
    answer_type: AnswerType,
    frames: Vec<CheckFrame>,
    /// For each field of each open map: whether a key for it was seen.
    seen: Vec<bool>,
    rest: Rest,
    mistake: Option<Mistake>,
    /// The type of the value, if it is not an answer.
    value_type: Option<TypeId>,
}

/// The expectation for the next value.
enum Asked {
    Nothing,
    Root,
    Items,
    Type(TypeId),
}

impl Checker {
    /// Creates a check of a streamed answer: the value of a key with hyphens is not checked, because a later key
    /// may take precedence.
    pub(crate) fn new(answer_type: AnswerType) -> Self {
        Checker {
            answer_type,
            frames: Vec::new(),
            seen: Vec::new(),
            rest: Rest::Free,
            mistake: None,
            value_type: None,
        }
    }

    /// Creates a check of a whole value of any of the types.
    pub(crate) fn of_value(answer_type: AnswerType, id: TypeId) -> Self {
        Checker {
            value_type: Some(id),
            ..Checker::new(answer_type)
        }
    }

    pub(crate) fn answer_type(&self) -> &AnswerType {
        &self.answer_type
    }

    pub(crate) fn take_mistake(&mut self) -> Option<Mistake> {
        self.mistake.take()
    }

    pub(crate) fn has_mistake(&self) -> bool {
        self.mistake.is_some()
    }

    /// Handles the beginning of a value; a number is an integer until its fraction.
    #[inline]
    pub(crate) fn value(&mut self, json: Json) {
        self.rest = Rest::Free;
        let asked = match self.frames.last_mut() {
            None => self.value_type.map_or(Asked::Root, Asked::Type),
            Some(CheckFrame::List { holds, begun }) => {
                *begun += 1;
                Asked::Type(*holds)
            }
            Some(CheckFrame::Map {
                field: Some(field), ..
            }) => Asked::Type(self.answer_type.types().holds(*field)),
            Some(CheckFrame::Wrapper { items }) if *items == Items::Next => {
                *items = Items::Seen;
                Asked::Items
            }
            Some(_) => Asked::Nothing,
        };
        match (asked, json, self.answer_type.wrapper()) {
            (Asked::Type(id), ..) => return self.typed(json, id),
            (Asked::Root, Json::Object, Some(_)) => {
                let items = Items::Missing;
                return self.enter(json, CheckFrame::Wrapper { items });
            }
            (Asked::Root, Json::Object, None)
            | (Asked::Root, Json::Array, Some(_))
            | (Asked::Items, Json::Array, _) => return self.typed(json, self.answer_type.root()),
            (Asked::Root, ..) => self.wrong(What::NotAnObject, None),
            (Asked::Items, ..) => self.wrong(What::NotWrapped, None),
            (Asked::Nothing, ..) => {}
        }
        self.enter(json, CheckFrame::Free);
    }

    #[inline]
    fn typed(&mut self, json: Json, id: TypeId) {
        let (of, optional) = self.answer_type.types().required(id);
        let frame = match (of, json) {
            (Type::List(holds), Json::Array) => CheckFrame::List { holds, begun: 0 },
            (Type::Map { fields, closed }, Json::Object) => self.map(fields, closed),
            _ => CheckFrame::Free,
        };
        let takes = of.takes(json) || optional && json == Json::Null;
        self.rest = match json {
            Json::Integer if !takes => Rest::Unwanted(Target::of(of)),
            Json::Integer if !of.takes(Json::Float) => Rest::Integer,
            Json::String if of == Type::Scalar(Scalar::Keyword) => Rest::Keyword,
            _ => Rest::Free,
        };
        if !takes && json != Json::Integer {
            self.not_wanted(Target::of(of), json.into());
        }
        self.enter(json, frame);
    }

    /// Handles the fraction or the exponent of a number.
    pub(crate) fn fraction(&mut self) {
        match std::mem::replace(&mut self.rest, Rest::Free) {
            Rest::Integer => self.not_wanted(Target::Scalar(Scalar::Int), Got::Float),
            Rest::Unwanted(wanted) => self.not_wanted(wanted, Got::Float),
            Rest::Free | Rest::Keyword => {}
        }
    }

    /// Handles the end of a number; returns whether it is the first error.
    #[inline]
    pub(crate) fn number_end(&mut self) -> bool {
        match self.rest {
            Rest::Unwanted(wanted) if self.mistake.is_none() => {
                self.not_wanted(wanted, Got::Int);
                true
            }
            _ => false,
        }
    }

    /// Returns whether the content of the current string is checked.
    pub(crate) fn needs_content(&self) -> bool {
        self.rest == Rest::Keyword
    }

    /// Handles the content of a string value.
    pub(crate) fn content(&mut self, content: &[u8]) {
        if self.needs_content() && !is_keyword_name(content) {
            self.not_wanted(Target::Scalar(Scalar::Keyword), Got::String);
        }
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
    fn enter(&mut self, json: Json, frame: CheckFrame) {
        if matches!(json, Json::Object | Json::Array) {
            self.frames.push(frame);
        }
    }

    fn not_wanted(&mut self, expected: Target, got: Got) {
        self.wrong(What::Mismatch(Mismatch { expected, got }), None);
    }

    /// Handles a key; `None` if it has escapes.
    #[inline]
    pub(crate) fn name(&mut self, key: Option<&[u8]>) {
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
                let types = self.answer_type.types();
                let Some(found) = types.named(*fields, key, *hint) else {
                    *field = None;
                    if *closed {
                        self.wrong(What::Unexpected, Some(key));
                    }
                    return;
                };
                *hint = found + 1;
                let place = |field: usize| *seen + field - fields.start as usize;
                // Of equal keys the first one counts, but a key with hyphens only if no other one follows.
                let counts = self.value_type.is_some() || !key.contains(&b'-');
                let counts = counts && !*unsure && !self.seen[place(found)];
                *field = counts.then_some(found);
                match types.may_double(*fields) {
                    true => types.each_named(*fields, key, |field| self.seen[place(field)] = true),
                    false => self.seen[place(found)] = true,
                }
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
    pub(crate) fn end(&mut self) {
        match self.frames.pop() {
            Some(CheckFrame::Map {
                fields,
                seen,
                unsure,
                ..
            }) => {
                let types = self.answer_type.types();
                let place = |field: usize| seen + field - fields.start as usize;
                let is_missing = |field: &usize| {
                    !unsure && !self.seen[place(*field)] && !types.is_optional(*field)
                };
                let missing = fields.range().find(is_missing);
                let name = missing.map(|field| types.field(field).name.to_vec());
                self.seen.truncate(seen);
                if name.is_some() {
                    self.wrong(What::Mismatch(Mismatch::MISSING), name.as_deref());
                }
            }
            Some(CheckFrame::Wrapper {
                items: Items::Missing,
            }) => self.wrong(What::NotWrapped, None),
            _ => {}
        }
    }

    /// Notes the first error: of the current value, or of its key `key`.
    #[cold]
    fn wrong(&mut self, what: What, key: Option<&[u8]>) {
        if self.mistake.is_some() {
            return;
        }
        let mut path = path(self.answer_type.types(), &self.frames);
        // The content of a firewalled field is not shown, undeclared keys included.
        let hides = |part: &PathPart| matches!(part, PathPart::Name(name) if is_firewalled(name));
        if what != What::Unexpected || !path.iter().any(hides) {
            path.extend(key.map(|key| PathPart::Name(key.into())));
        }
        self.mistake = Some(Mistake { path, what });
    }
}

/// Returns the path of the current value.
fn path(types: &Types, frames: &[CheckFrame]) -> Vec<PathPart> {
    let segment = |frame: &CheckFrame| match frame {
        CheckFrame::List { begun, .. } => Some(PathPart::Index(begun.saturating_sub(1))),
        CheckFrame::Map { field, .. } => {
            field.map(|field| PathPart::Name(types.field(field).name.into()))
        }
        CheckFrame::Free | CheckFrame::Wrapper { .. } => None,
    };
    frames.iter().filter_map(segment).collect()
}

impl<'n> Sink<'n> for Checker {
    fn null(&mut self) {
        self.value(Json::Null);
    }

    fn boolean(&mut self, _value: bool) {
        self.value(Json::Bool);
    }

    fn integer(&mut self, _value: i64) {
        self.value(Json::Integer);
        self.number_end();
    }

    fn big_integer(&mut self, _digits: &'n str) -> Result<(), Stop> {
        self.integer(0);
        Ok(())
    }

    fn float(&mut self, _value: f64) {
        self.value(Json::Integer);
        self.fraction();
    }

    fn string(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        self.value(Json::String);
        self.content(text.bytes());
        Ok(())
    }

    fn key(&mut self, text: Text<'n, '_>) -> Result<(), Stop> {
        self.name(Some(text.bytes()));
        Ok(())
    }

    fn open(&mut self, object: bool) {
        self.value(if object { Json::Object } else { Json::Array });
    }

    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        self.end();
        Ok(())
    }

    // The fuel was counted when the text was read.
    fn consume_fuel(&mut self, _bytes: usize, _held: usize) -> Result<(), Stop> {
        Ok(())
    }
}
