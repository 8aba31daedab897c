//! One step of a reading while the text is correct: one continuation, at no cost.

use super::branch::{Bracket, Branch, Phase};
use super::log::{Event, Span};
use super::reader::Reader;
use super::scan::{is_delimiter, number, skip_blanks};
use super::wanted::{is_keyword, Found, Of};
use crate::heap::Heap;

impl<H: Heap> Reader<'_, '_, '_, H> {
    /// Reads the next token if it is valid here; otherwise only skips blanks.
    #[inline]
    pub(super) fn strict(&mut self, branch: &mut Branch) -> bool {
        let at = skip_blanks(self.text, branch.at as usize);
        branch.at = at as u32;
        let Some(&byte) = self.text.get(at) else {
            return false;
        };
        match (branch.phase, byte) {
            (Phase::After, b',') => {
                branch.at += 1;
                (branch.phase, branch.ty) = match branch.top.kind {
                    Bracket::Object => (Phase::NextKey, branch.ty),
                    _ => (Phase::Item, branch.top.ty),
                };
                true
            }
            (Phase::After | Phase::First, b']') if branch.top.kind == Bracket::Array => {
                branch.at += 1;
                self.close(branch);
                true
            }
            (Phase::After | Phase::FirstKey, b'}') if branch.top.kind == Bracket::Object => {
                let complete = self.is_complete(&branch.top);
                if complete {
                    branch.at += 1;
                    self.close(branch);
                }
                complete
            }
            (Phase::FirstKey | Phase::NextKey, b'"') => self.strict_key(branch),
            (Phase::Colon, b':') => {
                branch.at += 1;
                branch.phase = Phase::Member;
                true
            }
            (Phase::First | Phase::Item | Phase::Member, _) => self.strict_value(branch, byte),
            _ => false,
        }
    }

    fn strict_key(&mut self, branch: &mut Branch) -> bool {
        let start = branch.at as usize + 1;
        let Some((end, escapes)) = self.strict_string(start) else {
            return false;
        };
        if self.byte(skip_blanks(self.text, end + 1)) != b':' {
            return false;
        }
        let span = Span::new(start, end);
        let ty = match self.want(branch.top.ty).of {
            Of::Map(shape) => {
                let shape = self.wanted.shape(shape);
                if escapes {
                    return false;
                }
                let found = shape.find(span.of(self.text), branch.top.hint as usize);
                let Found::Field(index) = found else {
                    return false;
                };
                let bit = 1_u64.checked_shl(index as u32).unwrap_or(0);
                let right = self.wanted.is_right(shape, index, span.of(self.text));
                if branch.top.seen & bit != 0 || !right {
                    return false;
                }
                branch.top.seen |= bit;
                branch.top.hint = index as u32 + 1;
                shape.fields[index].ty
            }
            _ => super::wanted::ANY,
        };
        self.event(
            branch,
            match escapes {
                true => Event::EscapedKey(span),
                false => Event::Key(span),
            },
        );
        branch.ty = ty;
        branch.phase = Phase::Colon;
        branch.at = end as u32 + 1;
        true
    }

    fn strict_value(&mut self, branch: &mut Branch, byte: u8) -> bool {
        let at = branch.at as usize;
        let want = self.want(branch.ty);
        match byte {
            b'{' if self.is_shallow(branch) => match want.of {
                Of::Any | Of::AnyMap | Of::Map(_) => {
                    branch.at += 1;
                    let ty = match want.of {
                        Of::Map(_) => branch.ty,
                        _ => super::wanted::ANY,
                    };
                    self.open(branch, Bracket::Object, ty);
                    true
                }
                _ => false,
            },
            b'[' if self.is_shallow(branch) => {
                let holds = match want.of {
                    // `[draft] plan"`
                    Of::Any if self.is_word(at + 1) => return false,
                    Of::Any => super::wanted::ANY,
                    Of::List(holds) => holds,
                    _ => return false,
                };
                branch.at += 1;
                self.open(branch, Bracket::Array, holds);
                true
            }
            b'"' => {
                let Some((end, escapes)) = self.strict_string(at + 1) else {
                    return false;
                };
                if !self.goes_on(branch, end + 1) {
                    return false;
                }
                let span = Span::new(at + 1, end);
                let fits = match want.of {
                    Of::Any | Of::String => true,
                    Of::Keyword => !escapes && is_keyword(span.of(self.text)),
                    _ => false,
                };
                if fits {
                    let event = match escapes {
                        true => Event::Escaped(span),
                        false => Event::Plain(span),
                    };
                    self.strict_scalar(branch, event, end + 1);
                }
                fits
            }
            b'-' | b'0'..=b'9' => {
                let Some((end, integer)) = number(self.text, at) else {
                    return false;
                };
                let fits = match want.of {
                    Of::Any | Of::Float => true,
                    Of::Int => integer,
                    _ => false,
                };
                if !fits || !is_delimiter(self.text, end) || !self.is_in_range(at, end, integer) {
                    return false;
                }
                let span = Span::new(at, end);
                self.strict_scalar(branch, Event::Number(span), end);
                true
            }
            b't' => self.strict_word(branch, b"true", Event::Bool(true)),
            b'f' => self.strict_word(branch, b"false", Event::Bool(false)),
            b'n' => self.strict_word(branch, b"null", Event::Null),
            _ => false,
        }
    }

    fn strict_word(&mut self, branch: &mut Branch, word: &[u8], event: Event) -> bool {
        let at = branch.at as usize;
        let end = at + word.len();
        if !self.text[at..].starts_with(word) || !is_delimiter(self.text, end) {
            return false;
        }
        let fits = self.word_fits(branch, event);
        if fits {
            self.strict_scalar(branch, event, end);
        }
        fits
    }

    /// Returns whether `true`, `false` or `null` is of the wanted type.
    pub(super) fn word_fits(&self, branch: &Branch, event: Event) -> bool {
        let want = self.want(branch.ty);
        match event {
            Event::Null => want.nullable,
            _ => matches!(want.of, Of::Any | Of::Bool | Of::Keyword),
        }
    }

    fn strict_scalar(&mut self, branch: &mut Branch, event: Event, end: usize) {
        self.event(branch, event);
        branch.at = end as u32;
        self.after_value(branch);
    }
}
