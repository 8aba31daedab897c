//! Equality of events, for the comparison of two readings.

use crate::repair::readings::log::{Event, Span};
use crate::repair::text::numbers::clean;
use crate::repair::text::unescape::unescape;
use ptc_type::Types;
use std::borrow::Cow;

/// Returns whether two events belong to the same value.
pub fn events(text: &[u8], types: &Types, inner: &[Vec<u8>], a: Event, b: Event) -> bool {
    if a == b {
        return true;
    }
    if let (Some(a), Some(b)) = (string(text, a), string(text, b)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (key(text, types, a), key(text, types, b)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (number(text, a), number(text, b)) {
        return a == b;
    }
    match (a, b) {
        (Event::Inner(a), Event::Inner(b)) => inner[a as usize] == inner[b as usize],
        _ => false,
    }
}

fn content(text: &[u8], span: Span, escapes: bool) -> Cow<'_, [u8]> {
    if !escapes {
        return Cow::Borrowed(span.of(text));
    }
    let mut out = Vec::new();
    unescape(span.of(text), &mut out);
    Cow::Owned(out)
}

fn string(text: &[u8], event: Event) -> Option<Cow<'_, [u8]>> {
    match event {
        Event::Plain(span) => Some(content(text, span, false)),
        Event::Escaped(span) => Some(content(text, span, true)),
        _ => None,
    }
}

fn key<'k>(text: &'k [u8], types: &'k Types, event: Event) -> Option<Cow<'k, [u8]>> {
    match event {
        Event::Key(span) => Some(content(text, span, false)),
        Event::EscapedKey(span) => Some(content(text, span, true)),
        Event::Field(index) => Some(Cow::Borrowed(types.field(index as usize).name)),
        _ => None,
    }
}

fn number(text: &[u8], event: Event) -> Option<String> {
    match event {
        Event::Number(span) => Some(String::from_utf8_lossy(span.of(text)).into_owned()),
        Event::Int(span) | Event::Float(span) | Event::Loose(span) => {
            Some(clean(span.of(text), true)?.text)
        }
        _ => None,
    }
}
