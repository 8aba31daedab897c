//! Repairs of values: conversion to the wanted type, and values in foreign syntax.

use crate::checker::Checker;
use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::{Bracket, Branch, Event, Phase, Span};
use crate::repair::search::is_suspicious;
use crate::repair::text::{
    clean_number, float_of, foreign, foreign_at, is_delimiter, is_integer, loose_end, quote,
    skip_blanks, thousands_end, unescaped, word,
};
use crate::repair::Stop;
use crate::LIMITS;
use ptc_json::grammar::{number, Word};
use ptc_json::Extent;
use ptc_term::heap::Heap;
use ptc_type::{AnswerType, Json, Scalar, Type, TypeId, Types};

/// Cost of a value that breaks a rule of its type.
const BREAKS: u32 = 1;

impl<H: Heap> Reader<'_, '_, H> {
    pub(in crate::repair) fn values(&mut self, branch: Branch) -> Result<(), Stop> {
        let at = branch.at as usize;
        let byte = self.byte(at);
        let mut right = branch;
        if self.strict(&mut right) {
            right.still = 0;
            self.proceed(right);
            let end = right.at as usize;
            let doubt = match byte {
                b'"' => {
                    at <= self.state.horizon as usize || is_suspicious(&self.text[at + 1..end - 1])
                }
                b'{' | b'[' | b']' => false,
                // `100 km/h"`
                _ => !self.goes_on(&branch, end),
            };
            if !doubt {
                self.thousands(branch);
                return Ok(());
            }
        }
        let listed = matches!(branch.phase, Phase::First | Phase::Item);
        if self.is_end(at) {
            // A key without a value is not repaired.
            if listed {
                self.leave(branch);
            }
            return Ok(());
        }
        match byte {
            b',' if listed => {
                self.leave_out(branch, Fault::ExtraComma, 1);
                return Ok(());
            }
            b']' if branch.phase == Phase::Item => {
                self.close_after_comma(branch);
                return Ok(());
            }
            b'}' if listed => {
                if branch.phase == Phase::First {
                    self.wrong_close(branch);
                }
                self.leave(branch);
                return Ok(());
            }
            b',' | b'}' | b']' | b':' => return Ok(()),
            _ => {}
        }
        if branch.phase == Phase::Item {
            self.leave(branch);
        }
        self.only_element(branch);
        // A valid value is no text without quotes.
        let valid = self.is_valid_value(&branch)?;
        match byte {
            b'-' | b'0'..=b'9' if valid => {
                self.number_as_text(branch);
                self.loose_number(branch);
                self.thousands(branch);
                Ok(())
            }
            b'{' | b'[' | b't' | b'f' | b'n' if valid => Ok(()),
            b'+' | b'-' | b'.' | b'0'..=b'9' => {
                self.loose_number(branch);
                self.thousands(branch);
                self.bare(branch)
            }
            b'[' if self.types().is_any(branch.ty) && self.is_shallow(&branch) => {
                let mut listed = branch;
                self.open(&mut listed, Bracket::Array, Types::ANY);
                self.moved(listed, at + 1);
                self.bare(branch)
            }
            b'{' | b'[' => self.bare(branch),
            _ => match quote(self.text, at) {
                Some((quote, length)) => self.quoted(branch, quote, length, false),
                None => {
                    self.foreign_word(branch);
                    self.stray(branch);
                    self.bare(branch)
                }
            },
        }
    }

    /// Reads a value as the only element of the declared list.
    fn only_element(&mut self, branch: Branch) {
        let Type::List(holds) = self.types().required(branch.ty).0 else {
            return;
        };
        let at = branch.at as usize;
        let is_null = matches!(foreign_at(self.text, at), Some((Word::Null, _)));
        if is_null || !self.may_insert(&branch) || !self.is_shallow(&branch) {
            return;
        }
        let mut only = branch;
        self.repair(&mut only, Fault::BareElement, at, at);
        self.open(&mut only, Bracket::One, holds);
        only.phase = Phase::Member;
        only.still += 1;
        self.admit(only);
    }

    /// `True`, `None`, `undefined`
    fn foreign_word(&mut self, branch: Branch) {
        let at = branch.at as usize;
        if let Some((word, end)) = foreign_at(self.text, at) {
            self.word_until(branch, word, end);
        }
    }

    /// Accepts a word of another language, which ends at `end`.
    fn word_until(&mut self, mut branch: Branch, word: Word, end: usize) {
        if is_delimiter(self.text, end) && self.word_fits(&branch, word) {
            let at = branch.at as usize;
            self.repair(&mut branch, Fault::ForeignWord, at, end);
            self.scalar(branch, Event::word(word), end);
        }
    }

    /// `+1`, `1.`, `.5`, `1_000`
    fn loose_number(&mut self, branch: Branch) {
        let at = branch.at as usize;
        let end = loose_end(self.text, at);
        let word_end = word(self.text, at + 1);
        if foreign(&self.text[at..word_end]) == Some(Word::Null) {
            // `-Infinity`
            self.word_until(branch, Word::Null, word_end);
            return;
        }
        if !is_delimiter(self.text, end) {
            return;
        }
        let takes = |integer| self.types().takes(branch.ty, Json::number(integer));
        let numeric = takes(true) && !self.types().is_any(branch.ty);
        let Some(clean) = clean_number(&self.text[at..end], numeric) else {
            return;
        };
        if takes(clean.integer) {
            let mut next = branch;
            if self.byte(at) == b'0' && self.byte(at + 1).is_ascii_digit() {
                next.cost += 4;
            }
            self.repair(&mut next, Fault::NumberForm, at, end);
            self.scalar(next, Event::Loose(Span::new(at, end)), end);
        }
    }

    /// `17` where a text is declared: its digits, as they are written.
    fn number_as_text(&mut self, branch: Branch) {
        let at = branch.at as usize;
        let Some((end, _)) = number(self.text, at) else {
            return;
        };
        let digits = Span::new(at, end);
        let is_text = self.types().required(branch.ty).0 == Type::Scalar(Scalar::String);
        if is_text && is_delimiter(self.text, end) {
            let mut next = branch;
            self.repair(&mut next, Fault::NumberAsText, at, end);
            self.scalar(next, Event::Plain(digits), end);
        }
    }

    /// `1,234`, where nothing else can follow the comma.
    fn thousands(&mut self, branch: Branch) {
        let at = branch.at as usize;
        let Some((end, integer)) = thousands_end(self.text, at) else {
            return;
        };
        let alone = branch.phase == Phase::Member && branch.top.kind == Bracket::Object;
        // In a list, `1,234` are two numbers, but `1,034` is one.
        if !alone && !self.text[at..end].windows(2).any(|pair| pair == b",0") {
            return;
        }
        let fits = self.types().takes(branch.ty, Json::number(integer));
        if fits && is_delimiter(self.text, end) {
            let mut next = branch;
            self.repair(&mut next, Fault::Thousands, at, end);
            self.scalar(next, Event::Loose(Span::new(at, end)), end);
        }
    }

    /// Accepts a value without parts and continues after it.
    pub(in crate::repair) fn scalar(&mut self, mut branch: Branch, event: Event, end: usize) {
        self.judge_by_rules(&mut branch, event);
        self.event(&mut branch, event);
        self.after_value(&mut branch);
        self.moved(branch, end);
    }

    /// Counts a value that breaks an enumeration or a range of its type: of readings of the same cost, the one without it is
    /// more likely.
    #[inline]
    pub(in crate::repair) fn judge_by_rules(&self, branch: &mut Branch, event: Event) {
        if self.types().has_rules() && self.breaks_rules(branch, event) {
            branch.cost += BREAKS;
            branch.broken += 1;
        }
    }

    /// Returns whether a value breaks an enumeration or a range of its type.
    #[cold]
    fn breaks_rules(&self, branch: &Branch, event: Event) -> bool {
        let types = self.types();
        let Some(rules) = types.rules_at(branch.ty) else {
            return false;
        };
        match event {
            Event::Plain(span) => rules.refuse_text(span.of(self.text)),
            Event::Escaped(span) => rules.refuse_text(&unescaped(span.of(self.text))),
            Event::Number(span) => rules.refuse_number(span.of(self.text)),
            Event::Int(span) | Event::Float(span) | Event::Loose(span) => {
                let number = clean_number(span.of(self.text), true);
                number.is_some_and(|number| rules.refuse_number(number.text.as_bytes()))
            }
            _ => false,
        }
    }

    /// Accepts a string, or the value that its type makes of it, and continues at `next`.
    pub(in crate::repair) fn string(
        &mut self,
        mut branch: Branch,
        start: usize,
        end: usize,
        escapes: bool,
        next: usize,
    ) -> Result<(), Stop> {
        let span = Span::new(start, end);
        let content = &self.text[start..end];
        let event = match self.types().required(branch.ty).0 {
            _ if self.types().takes_string(branch.ty, content) => Event::string(span, escapes),
            Type::Scalar(Scalar::Int | Scalar::Number) if is_integer(content) => {
                self.repair(&mut branch, Fault::QuotedNumber, start, end);
                Event::Int(span)
            }
            Type::Scalar(Scalar::Float | Scalar::Number) if float_of(content).is_some() => {
                self.repair(&mut branch, Fault::QuotedNumber, start, end);
                Event::Float(span)
            }
            Type::Scalar(Scalar::Bool) if matches!(content, b"true" | b"false") => {
                self.repair(&mut branch, Fault::QuotedBoolean, start, end);
                Event::Bool(content == b"true")
            }
            Type::List(_) | Type::Map { .. } | Type::Scalar(Scalar::Map) => {
                self.consume_fuel(end - start)?;
                match json_within(content, &self.wanted.answer_type, branch.ty) {
                    Some(json) => {
                        self.repair(&mut branch, Fault::Stringified, start, end);
                        self.state.inner.push(json);
                        Event::Inner(self.state.inner.len() as u32 - 1)
                    }
                    None => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        self.scalar(branch, event, next);
        Ok(())
    }

    /// Returns whether a quote at `at` ends a value.
    pub(in crate::repair) fn ends_value(&self, at: usize) -> bool {
        let next = skip_blanks(self.text, at);
        matches!(self.text.get(next), Some(b',' | b'}' | b']' | b';'))
    }
}

/// Returns the content of a string as JSON if the whole content is JSON of the type.
fn json_within(content: &[u8], of: &AnswerType, id: TypeId) -> Option<Vec<u8>> {
    let trimmed = content.trim_ascii();
    let (first, last) = (trimmed.first()?, trimmed.last()?);
    if !matches!((first, last), (b'{', b'}') | (b'[', b']')) {
        return None;
    }
    let text = unescaped(trimmed);
    let mut checker = Checker::of_value(of.clone(), id);
    let mut reader = ptc_json::Reader::new(0, Extent::Whole, LIMITS);
    reader.read(&text, &mut checker).ok()?;
    (!checker.has_mistake()).then_some(text)
}
