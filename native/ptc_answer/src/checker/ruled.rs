//! Rules of types in a stream: what the text of a value without parts decides, at its end.

use super::items::ItemRules;
use super::{CheckFrame, Checker, Mistake, What};
use ptc_term::value::{read_iso, Family, LONGEST_DECIMAL};
use ptc_type::constraint::json::Written;
use ptc_type::{Got, Json, Scalar, Target, Type, TypeId, LONGEST_ISO};
use std::collections::HashSet;

/// Work that the rules of one chunk may take. What takes more is left to the check of the whole answer.
pub(super) const BUDGET: usize = 8_000;

impl Checker {
    /// Notes that the rules of a value are checked at its end.
    #[inline]
    pub(super) fn rule(&mut self, id: TypeId, of: Type, json: Json) {
        use Scalar::{Date, DateTime, Decimal};
        let is_made = json == Json::String && matches!(of, Type::Scalar(DateTime | Date | Decimal));
        if is_made || self.answer_type.types().has_rules() && self.is_ruled(id) {
            self.ruled = Some((id, json));
        }
    }

    /// Returns whether a value of a type has rules, or is an item that must be different from the others.
    #[cold]
    fn is_ruled(&self, id: TypeId) -> bool {
        let mut has = matches!(
            self.frames.last(),
            Some(CheckFrame::List { rules: Some(rules), .. }) if rules.unique.is_some()
        );
        self.answer_type.types().each_rules(id, |_| has = true);
        has
    }

    /// Returns the rules of a list of this type.
    pub(super) fn item_rules(&self, id: TypeId) -> Option<Box<ItemRules>> {
        let types = self.answer_type.types();
        if !self.strict || !types.has_rules() {
            return None;
        }
        let mut rules = ItemRules {
            least: 0,
            most: u64::MAX,
            unique: None,
        };
        let mut has = false;
        types.each_rules(id, |number| {
            let constraints = types.constraints(number);
            if let Some((least, most)) = constraints.items {
                (rules.least, rules.most) = (rules.least.max(least), rules.most.min(most));
            }
            if constraints.unique {
                rules.unique = Some(HashSet::new());
            }
            has |= constraints.unique || constraints.items.is_some();
        });
        has.then(|| Box::new(rules))
    }

    /// Notes that the list whose item is current breaks a rule.
    #[cold]
    pub(super) fn wrong_list(&mut self, json: Json) {
        let list = self.frames.len().saturating_sub(1);
        self.note(json, list);
    }

    /// Notes that the current value is of no type.
    #[cold]
    pub(super) fn no_type(&mut self, json: Json) {
        self.note(json, self.frames.len());
    }

    /// Notes the error of a value within so many frames: at once if it has parts, or else at its end.
    fn note(&mut self, json: Json, frames: usize) {
        if self.mistake.is_some() || self.late.is_some() {
            return;
        }
        let path = super::path(self.answer_type.types(), &self.frames[..frames]);
        let what = What::Rule;
        let place = match json {
            Json::Object | Json::Array => &mut self.mistake,
            _ => &mut self.late,
        };
        *place = Some(Mistake { path, what });
    }

    /// Checks a string, whose kind is right.
    pub(super) fn judge_text(&mut self, id: TypeId, text: &[u8]) {
        let of = self.answer_type.types().required(id).0;
        let fits = match of {
            Type::Scalar(Scalar::DateTime) => is_iso(text, Family::DateTime),
            Type::Scalar(Scalar::Date) => is_iso(text, Family::Date),
            Type::Scalar(Scalar::Decimal) => may_be_decimal(text),
            _ => true,
        };
        if !fits {
            return self.not_wanted(Target::of(of), Got::String);
        }
        // The rules of a date are not those of its text.
        if !matches!(of, Type::Scalar(Scalar::DateTime | Scalar::Date)) {
            self.judge(id, Written::Text(text));
        }
        self.judge_item(of, Written::Text(text));
    }

    /// Checks a value by the rules of its type.
    fn judge(&mut self, id: TypeId, value: Written) {
        let (types, budget) = (self.answer_type.types(), &mut self.budget);
        let mut is_wrong = false;
        types.each_rules(id, |rules| {
            is_wrong = is_wrong || types.constraints(rules).refuse(value, budget);
        });
        if is_wrong {
            self.wrong(What::Rule, None);
        }
    }

    /// Compares an item with those before it, if they must be different. Equal decimals can be different values.
    fn judge_item(&mut self, of: Type, value: Written) {
        if let Some(CheckFrame::List {
            rules: Some(rules), ..
        }) = self.frames.last_mut()
        {
            if of != Type::Scalar(Scalar::Decimal) && rules.repeats(value) {
                self.wrong_list(Json::Array);
            }
        }
    }

    /// Handles the end of a value, with the text of a number or a word if that is whole; returns whether it is a number
    /// that is the first error.
    pub(crate) fn value_end(&mut self, text: Option<&[u8]>) -> bool {
        if self.trials.is_some() {
            return self.tried_value_end(text);
        }
        let before = self.mistake.is_some();
        if let (Some((id, json)), Some(text), false) = (self.ruled.take(), text, before) {
            let value = match json {
                Json::Null => Written::Name(b"nil"),
                Json::Bool => Written::Name(text),
                _ => Written::Number(text),
            };
            let of = self.answer_type.types().required(id).0;
            self.judge(id, value);
            self.judge_item(of, value);
        }
        if let (Some(late), None) = (self.late.take(), &self.mistake) {
            self.mistake = Some(late);
        }
        !before && self.mistake.is_some() && is_number(text)
    }
}

/// Returns whether the text of a number or a word is a number.
pub(super) fn is_number(text: Option<&[u8]>) -> bool {
    matches!(text, Some([b'-' | b'0'..=b'9', ..]))
}

/// Returns whether a text is a date, or a date and a time.
fn is_iso(text: &[u8], family: Family) -> bool {
    text.len() > LONGEST_ISO || read_iso(text).is_some_and(|(read, _)| read == family)
}

/// Returns whether a text may be a decimal; the check of the whole answer decides.
fn may_be_decimal(text: &[u8]) -> bool {
    let is_part = |byte: &u8| {
        byte.is_ascii_digit() || b"+-.eE \t\n\r\x0B\x0C".contains(byte) || !byte.is_ascii()
    };
    text.len() <= LONGEST_DECIMAL && text.iter().any(u8::is_ascii_digit) && text.iter().all(is_part)
}
