//! Type checks of a JSON value while it is read, up to the first error: of a stream, and of a repaired text.
//!
//! In a stream, rules of types (`ruled`) and unions (`trials`) are checked as well, as far as the text of a value decides.

mod items;
mod mistake;
mod ruled;
mod sink;
mod trials;

use super::PathPart;
use items::{AnyKeys, ItemRules};
use mistake::path;
pub use mistake::{Mistake, What};
use ptc_term::names::{is_firewalled, is_keyword_name};
use ptc_type::{AnswerType, Fields, Got, Json, Mismatch, Scalar, Target, Type, TypeId};
use trials::Trials;

/// What stands in a path for a key that is not shown.
const CONCEALED: &str = "…";

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

#[derive(Debug)]
enum CheckFrame {
    /// The content is not checked.
    Free,
    List {
        holds: TypeId,
        /// Number of elements that have begun.
        begun: usize,
        /// The rules of the list.
        rules: Option<Box<ItemRules>>,
    },
    /// A map from any keys to values of a type.
    MapOf { holds: TypeId, keys: Box<AnyKeys> },
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
    /// Whether a key with hyphens counts at once.
    whole: bool,
    /// Whether rules and unions are checked, and how much more work they may take for this chunk.
    strict: bool,
    budget: usize,
    /// The value whose rules are checked at its end.
    ruled: Option<(TypeId, Json)>,
    /// The error of a value that is not at its end.
    late: Option<Mistake>,
    /// The value is one of several types.
    trials: Option<Box<Trials>>,
    /// Whether this is such a trial.
    is_trial: bool,
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
            whole: false,
            strict: true,
            budget: ruled::BUDGET,
            ruled: None,
            late: None,
            trials: None,
            is_trial: false,
        }
    }

    /// Creates a check of a whole value of any of the types.
    pub(crate) fn of_value(answer_type: AnswerType, id: TypeId) -> Self {
        Checker {
            value_type: Some(id),
            whole: true,
            strict: false,
            ..Checker::new(answer_type)
        }
    }

    /// Begins another chunk of a stream.
    pub(crate) fn begin_chunk(&mut self) {
        self.budget = ruled::BUDGET;
        if let Some(trials) = &mut self.trials {
            trials.begin_chunk();
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
        if self.trials.is_some() {
            return self.tried(json, |trial| trial.value(json));
        }
        self.rest = Rest::Free;
        self.ruled = None;
        let asked = match self.frames.last_mut() {
            None => self.value_type.map_or(Asked::Root, Asked::Type),
            Some(CheckFrame::List {
                holds,
                begun,
                rules,
            }) => {
                *begun += 1;
                let holds = *holds;
                if rules
                    .as_ref()
                    .is_some_and(|rules| *begun as u64 > rules.most)
                {
                    self.wrong_list(json);
                }
                Asked::Type(holds)
            }
            Some(CheckFrame::MapOf { holds, keys }) if keys.counts => Asked::Type(*holds),
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
            // Anything or a list of it: nothing is known of the value.
            (Asked::Root, _, Some(_)) if self.is_free() => {}
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

    fn is_free(&self) -> bool {
        let answer_type = &self.answer_type;
        answer_type.types().is_any(answer_type.root())
    }

    #[inline]
    fn typed(&mut self, json: Json, id: TypeId) {
        let (of, optional) = self.answer_type.types().required(id);
        let frame = match (of, json) {
            (Type::List(holds), Json::Array) => CheckFrame::List {
                holds,
                begun: 0,
                rules: self.item_rules(id),
            },
            (Type::MapOf(holds), Json::Object) => CheckFrame::MapOf {
                holds,
                keys: Box::default(),
            },
            (Type::OneOf(union), _) if self.strict && !(optional && json == Json::Null) => {
                return self.one_of(json, union)
            }
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
        if self.strict && takes && !(optional && json == Json::Null) {
            self.rule(id, of, json);
        }
        self.enter(json, frame);
    }

    /// Handles the fraction or the exponent of a number.
    pub(crate) fn fraction(&mut self) {
        if self.trials.is_some() {
            return self.tried(Json::Null, Checker::fraction);
        }
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

    /// Returns whether the end of the current value is checked, besides that of a number.
    #[inline]
    pub(crate) fn needs_end(&self) -> bool {
        self.ruled.is_some() || self.late.is_some() || self.trials.is_some()
    }

    /// Returns whether the content of the current string is checked, or the text of another value.
    #[inline]
    pub(crate) fn needs_content(&self) -> bool {
        self.rest == Rest::Keyword || self.ruled.is_some() || self.trials.is_some()
    }

    /// Handles the content of a string value.
    pub(crate) fn content(&mut self, content: &[u8]) {
        if self.trials.is_some() {
            return self.tried(Json::Null, |trial| trial.content(content));
        }
        if self.rest == Rest::Keyword && !is_keyword_name(content) {
            self.not_wanted(Target::Scalar(Scalar::Keyword), Got::String);
        }
        if let Some((id, Json::String)) = self.ruled {
            self.ruled = None;
            self.judge_text(id, content);
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
        if self.trials.is_some() {
            return self.tried(Json::Null, |trial| trial.name(key));
        }
        match self.frames.last_mut() {
            Some(CheckFrame::MapOf { keys, .. }) => keys.pass(key, self.whole),
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
                let counts = self.whole || !key.contains(&b'-');
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
        if self.trials.is_some() {
            return self.tried_end();
        }
        match self.frames.pop() {
            Some(CheckFrame::List {
                begun,
                rules: Some(rules),
                ..
            }) if (begun as u64) < rules.least => self.wrong(What::Rule, None),
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
        if self.mistake.is_some() || self.late.is_some() {
            return;
        }
        let mut path = path(self.answer_type.types(), &self.frames);
        // The content of a firewalled field is not shown, undeclared keys included.
        let hides = |part: &PathPart| matches!(part, PathPart::Name(name) if is_firewalled(name));
        let shown = match what == What::Unexpected && path.iter().any(hides) {
            true => key.map(|_| CONCEALED.as_bytes()),
            false => key,
        };
        path.extend(shown.map(|key| PathPart::Name(key.into())));
        self.mistake = Some(Mistake { path, what });
    }
}
