//! One step of a reading while the text is correct: one continuation, at no cost.

use crate::repair::readings::branch::{Bracket, Branch, Phase};
use crate::repair::readings::log::{Event, Span};
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::{is_delimiter, skip_blanks};
use ptc_json::grammar::{number, token, Token, Word};
use ptc_term::heap::Heap;
use ptc_type::Json;

impl<H: Heap> Reader<'_, '_, H> {
    /// Reads the next token if it is valid here; otherwise only skips blanks.
    #[inline]
    pub(in crate::repair) fn strict(&mut self, branch: &mut Branch) -> bool {
        let at = skip_blanks(self.text, branch.at as usize);
        branch.at = at as u32;
        let Some(&byte) = self.text.get(at) else {
            return false;
        };
        let token = branch
            .phase
            .place()
            .and_then(|place| token(place, branch.top.inside(), byte));
        match token {
            Some(Token::Comma) => {
                branch.at += 1;
                (branch.phase, branch.ty) = match branch.top.kind {
                    Bracket::Object => (Phase::NextKey, branch.ty),
                    _ => (Phase::Item, branch.top.ty),
                };
                true
            }
            Some(Token::Close) => {
                let complete = self.is_complete(&branch.top);
                if complete {
                    branch.at += 1;
                    self.close(branch);
                }
                complete
            }
            Some(Token::Key) => self.strict_key(branch),
            Some(Token::Colon) => {
                branch.at += 1;
                branch.phase = Phase::Member;
                true
            }
            Some(token) => self.strict_value(branch, token),
            None => false,
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
        let ty = match self.types().map(branch.top.ty) {
            Some(_) if escapes => return false,
            Some((fields, _)) => {
                let (types, key) = (self.types(), span.of(self.text));
                let Some(index) = types.named(fields, key, branch.top.hint as usize) else {
                    return false;
                };
                let bit = fields.bit(index);
                if branch.top.seen & bit != 0 || !self.wanted.is_right(fields, index, key) {
                    return false;
                }
                branch.top.seen |= bit;
                branch.top.hint = index as u32 + 1;
                types.holds(index)
            }
            None => self.types().of_any_key(branch.top.ty),
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

    fn strict_value(&mut self, branch: &mut Branch, token: Token) -> bool {
        let at = branch.at as usize;
        match token {
            Token::Open(object) if self.is_shallow(branch) => {
                let kind = match object {
                    true => Bracket::Object,
                    // `[draft] plan"`
                    _ if self.types().is_any(branch.ty) && self.is_word(at + 1) => return false,
                    _ => Bracket::Array,
                };
                let inside = self.types().inside(branch.ty, object);
                if let Some(inside) = inside {
                    branch.at += 1;
                    self.open(branch, kind, inside);
                }
                inside.is_some()
            }
            Token::String => {
                let Some((end, escapes)) = self.strict_string(at + 1) else {
                    return false;
                };
                if !self.goes_on(branch, end + 1) {
                    return false;
                }
                let span = Span::new(at + 1, end);
                let fits = self.types().takes_string(branch.ty, span.of(self.text));
                if fits {
                    let event = match escapes {
                        true => Event::Escaped(span),
                        false => Event::Plain(span),
                    };
                    self.strict_scalar(branch, event, end + 1);
                }
                fits
            }
            Token::Number => {
                let Some((end, integer)) = number(self.text, at) else {
                    return false;
                };
                let fits = self.types().takes(branch.ty, Json::number(integer));
                if !fits || !is_delimiter(self.text, end) || !self.is_in_range(at, end, integer) {
                    return false;
                }
                let span = Span::new(at, end);
                self.strict_scalar(branch, Event::Number(span), end);
                true
            }
            Token::Word(word) => self.strict_word(branch, word),
            _ => false,
        }
    }

    fn strict_word(&mut self, branch: &mut Branch, word: Word) -> bool {
        let at = branch.at as usize;
        let end = at + word.letters().len();
        if !self.text[at..].starts_with(word.letters()) || !is_delimiter(self.text, end) {
            return false;
        }
        let event = match word {
            Word::True => Event::Bool(true),
            Word::False => Event::Bool(false),
            Word::Null => Event::Null,
        };
        let fits = self.word_fits(branch, event);
        if fits {
            self.strict_scalar(branch, event, end);
        }
        fits
    }

    /// Returns whether `true`, `false` or `null` is of the wanted type.
    pub(in crate::repair) fn word_fits(&self, branch: &Branch, event: Event) -> bool {
        let json = match event {
            Event::Null => Json::Null,
            _ => Json::Bool,
        };
        self.types().takes(branch.ty, json)
    }

    fn strict_scalar(&mut self, branch: &mut Branch, event: Event, end: usize) {
        self.judge_by_rules(branch, event);
        self.event(branch, event);
        branch.at = end as u32;
        self.after_value(branch);
    }
}
