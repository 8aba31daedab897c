//! From text to value: the first choice is built as it is read, so that a plain answer is read once.

use super::choice::{choose, Choice};
use super::recovery::recover;
use super::scan::{backticks, bracket, landmark, region_end};
use crate::heap::Heap;
use crate::json::{read_value, JsonError, Limits, Sink, TermBuilder, Text};
use std::ops::Range;

/// What an answer may ask for. A million brackets inside one another is no answer anybody can use;
/// an integer of more than 1024 digits neither.
pub const LIMITS: Limits = Limits {
    depth: 1_000_000,
    integer: 1024,
};

/// Why a text has no answer in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// No bracket, or none that is closed; what is missing after the first one.
    #[error("no JSON found")]
    NotFound(Option<JsonError>),
    /// Something that should be JSON and is not.
    #[error("{0}")]
    Invalid(JsonError),
}

/// What was found.
#[derive(Debug, Clone, Copy)]
pub struct Answer<T> {
    /// The value.
    pub value: T,
    /// Some key has a hyphen.
    pub hyphens: bool,
    /// Where it begins.
    pub start: usize,
}

/// Builds an answer that was found once more, with underscores for the hyphens of its keys; nothing
/// if two keys of an object became one.
pub fn read_underscored<H: Heap>(text: &[u8], start: usize, heap: &mut H) -> Option<H::Term> {
    let mut builder = TermBuilder::underscored(heap);
    read_value(text, start, LIMITS, &mut builder).ok()?;
    (!builder.has_repeated()).then(|| builder.finish())
}

/// Finds the JSON of an answer and builds it.
pub fn read_answer<H: Heap>(text: &[u8], heap: &mut H) -> Result<Answer<H::Term>, NoAnswer> {
    let first = match landmark(text) {
        None => return Err(NoAnswer::NotFound(None)),
        Some(at) if text[at] == b'`' => None,
        Some(start) => Some((start, build(text, start, heap))),
    };
    match first {
        Some((start, Ok((value, end)))) => {
            // No marker before it, and those within stand in strings.
            if backticks(text, end).is_none() {
                return Ok(value);
            }
            match choose(text, Some(start..end)) {
                Choice::Raw => Ok(value),
                Choice::Fenced(content) => fenced(text, content, heap),
            }
        }
        Some((start, Err(error))) => match choose(text, None) {
            Choice::Raw => {
                let closed = region_end(text, start).is_some();
                recovered(text, heap, refusal(closed, error))
            }
            Choice::Fenced(content) => fenced(text, content, heap),
        },
        None => match choose(text, None) {
            Choice::Raw => raw(text, heap),
            Choice::Fenced(content) => fenced(text, content, heap),
        },
    }
}

/// The end of the JSON at `start`, if there is any.
pub fn check(text: &[u8], start: usize) -> Option<usize> {
    read_value(text, start, LIMITS, &mut Ignore).ok()
}

/// Builds the JSON at `start`; gives it and the offset after it.
pub fn build<H: Heap>(
    text: &[u8],
    start: usize,
    heap: &mut H,
) -> Result<(Answer<H::Term>, usize), JsonError> {
    let mut builder = TermBuilder::new(heap);
    let end = read_value(text, start, LIMITS, &mut builder)?;
    let answer = Answer {
        hyphens: builder.has_hyphens(),
        value: builder.finish(),
        start,
    };
    Ok((answer, end))
}

fn fenced<H: Heap>(
    text: &[u8],
    content: Range<usize>,
    heap: &mut H,
) -> Result<Answer<H::Term>, NoAnswer> {
    let within = &text[..content.end];
    match build(within, content.start, heap) {
        Ok((value, end)) => {
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            match within[end..].iter().position(|byte| !blank(byte)) {
                None => Ok(value),
                Some(more) => {
                    let error = JsonError::UnexpectedToken(end + more);
                    recovered(text, heap, NoAnswer::Invalid(error))
                }
            }
        }
        Err(error) => recovered(text, heap, NoAnswer::Invalid(error)),
    }
}

/// The first bracket of a text, where it does not come before all markers.
fn raw<H: Heap>(text: &[u8], heap: &mut H) -> Result<Answer<H::Term>, NoAnswer> {
    let Some(start) = bracket(text, 0, text.len()) else {
        return recovered(text, heap, NoAnswer::NotFound(None));
    };
    match build(text, start, heap) {
        Ok((value, _)) => Ok(value),
        Err(error) => {
            let closed = region_end(text, start).is_some();
            recovered(text, heap, refusal(closed, error))
        }
    }
}

fn refusal(closed: bool, error: JsonError) -> NoAnswer {
    match closed {
        true => NoAnswer::Invalid(error),
        false => NoAnswer::NotFound(Some(error)),
    }
}

#[cold]
fn recovered<H: Heap>(
    text: &[u8],
    heap: &mut H,
    refusal: NoAnswer,
) -> Result<Answer<H::Term>, NoAnswer> {
    let range = recover(text).ok_or(refusal)?;
    let (value, _) = build(text, range.start, heap).map_err(NoAnswer::Invalid)?;
    Ok(value)
}

/// Takes events for granted: what is asked is only whether they come.
struct Ignore;

impl<'t> Sink<'t> for Ignore {
    fn null(&mut self) {}
    fn boolean(&mut self, _value: bool) {}
    fn integer(&mut self, _value: i64) {}
    fn big_integer(&mut self, _digits: &'t str) {}
    fn float(&mut self, _value: f64) {}
    fn string(&mut self, _text: Text<'t, '_>) {}
    fn key(&mut self, _text: Text<'t, '_>) {}
    fn open(&mut self, _object: bool) {}
    fn close(&mut self, _object: bool) {}
}
