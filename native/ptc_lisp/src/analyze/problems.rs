//! Problems: their reasons, codes and parts.

use super::Analyzer;
use crate::ast::{Part, Problem, Span};
use crate::families::strings::text::put_shortest;
use crate::read::{Form, FormId};
use std::borrow::Cow;

/// The reason of a wrong number of operands.
pub const ARITY: &str = "invalid_arity";
/// The reason of a form that is written wrongly.
pub const FORM: &str = "invalid_form";
/// The reason of a threading form that is written wrongly.
pub const THREAD: &str = "invalid_thread_form";
/// The reason of what no value can be bound to.
pub const PATTERN: &str = "unsupported_pattern";

/// The most characters of a form that a message shows.
const SHOWN: usize = 60;
/// The most characters of a part of a message. Lists of names that exist are shorter.
const MOST: usize = 1_000;

/// Makes parts of a message.
macro_rules! parts {
    ($($part:expr),* $(,)?) => {
        vec![$($crate::analyze::problems::part($part)),*]
    };
}
pub(super) use parts;

/// What can be a part of a message.
pub trait IntoPart {
    /// Makes it one.
    fn into_part(self) -> Part;
}

impl IntoPart for &str {
    fn into_part(self) -> Part {
        Part::Text(cut(self, MOST).into_owned())
    }
}

impl IntoPart for String {
    fn into_part(self) -> Part {
        self.as_str().into_part()
    }
}

impl IntoPart for u32 {
    fn into_part(self) -> Part {
        Part::Number(i64::from(self))
    }
}

/// Makes a part of a message.
pub fn part(value: impl IntoPart) -> Part {
    value.into_part()
}

/// The error of a program with more symbols and keywords than it may have. It has no place.
pub(super) fn too_many_symbols(count: usize, most: usize) -> Problem {
    let number = |number: usize| Part::Number(i64::try_from(number).unwrap_or(i64::MAX));
    Problem {
        reason: "symbol_limit_exceeded",
        code: "too_many_symbols",
        parts: vec![number(count), number(most)],
        at: Span { start: 0, end: 0 },
    }
}

/// Cuts a text that is longer than this.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// A text that is no function. Nobody sees it.
pub fn no_function() -> Problem {
    Problem {
        reason: FORM,
        code: "no_function",
        parts: Vec::new(),
        at: Span::default(),
    }
}

impl Analyzer<'_> {
    /// Makes a problem of a form.
    #[cold]
    pub(super) fn problem(
        &self,
        reason: &'static str,
        code: &'static str,
        parts: Vec<Part>,
        at: FormId,
    ) -> Problem {
        Problem {
            reason,
            code,
            parts,
            at: self.forms.span(at),
        }
    }

    /// Makes a problem of a wrong number of operands, with the name of the form.
    #[cold]
    pub(super) fn arity(&self, code: &'static str, name: &str, at: FormId) -> Problem {
        self.problem(ARITY, code, parts![name], at)
    }

    /// Makes a problem of a form that is written wrongly.
    #[cold]
    pub(super) fn invalid(&self, code: &'static str, at: FormId) -> Problem {
        self.problem(FORM, code, Vec::new(), at)
    }

    /// Returns the text of a form, cut if it is long.
    pub(super) fn text_of(&self, id: FormId) -> String {
        cut(self.source_of(id), SHOWN).into_owned()
    }

    /// Returns a form as Elixir shows it, if that is a number, nil or a boolean; else its text.
    pub(super) fn shown(&self, id: FormId) -> String {
        match self.forms.form(id) {
            Form::Int(int) => int.to_string(),
            Form::Large(index) => self.forms.large[index as usize].to_string(),
            Form::Float(float) => {
                let mut text = Vec::new();
                put_shortest(&mut text, float);
                String::from_utf8(text).unwrap_or_default()
            }
            _ => self.text_of(id),
        }
    }
}
