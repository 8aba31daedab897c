//! Patterns: what values are bound to.

use super::meaning::Meaning;
use super::problems::{parts, FORM, PATTERN};
use super::Analyzer;
use crate::ast::{Entry, Literal, Pattern, Problem};
use crate::read::{Form, FormId, Items, SymbolId};
use crate::vocabulary::Vocabulary;

impl Analyzer<'_> {
    /// Binds the names of a pattern. The reader has limited how deep patterns are nested.
    pub(super) fn pattern(&mut self, form: FormId) -> Result<Pattern, Problem> {
        match self.forms.form(form) {
            Form::Symbol(name) => match self.meaning(name) {
                Meaning::Placeholder(_) => Err(self.stray_placeholder(name, form)),
                Meaning::Qualified(_) => Err(self.unsupported(form)),
                _ => Ok(Pattern::Local(self.bind_name(name))),
            },
            Form::Vector(items) => {
                let (fixed, rest) = self.split_rest(items)?;
                let mut patterns = Vec::with_capacity(fixed.len as usize);
                for index in 0..fixed.len {
                    patterns.push(self.pattern(self.forms.child(fixed, index))?);
                }
                let rest = rest.map(|rest| self.pattern(rest)).transpose()?;
                Ok(Pattern::List(patterns, rest.map(Box::new)))
            }
            Form::Map(items) => self.map_pattern(items, form),
            _ => Err(self.unsupported(form)),
        }
    }

    /// Makes the problem of what no value can be bound to.
    pub(super) fn unsupported(&self, form: FormId) -> Problem {
        self.problem(PATTERN, "pattern", parts![self.text_of(form)], form)
    }

    /// Splits patterns at `&`.
    pub(super) fn split_rest(&self, items: Items) -> Result<(Items, Option<FormId>), Problem> {
        let all = self.forms.children(items);
        let Some(place) = all.iter().position(|form| self.is_symbol(*form, "&")) else {
            return Ok((items, None));
        };
        let fixed = items.take(place as u32);
        match &all[place + 1..] {
            [] => Err(self.invalid("missing_rest", all[place])),
            [rest] => Ok((fixed, Some(*rest))),
            [_, second, ..] => Err(self.invalid("several_rest", *second)),
        }
    }

    fn is_symbol(&self, form: FormId, name: &str) -> bool {
        matches!(self.forms.form(form), Form::Symbol(found) if self.names.text(found) == name)
    }

    /// `{:keys [a], p :k, :or {a 1}, :as m}`
    fn map_pattern(&mut self, items: Items, at: FormId) -> Result<Pattern, Problem> {
        let defaults = self.defaults(items)?;
        let mut entries = Vec::new();
        let mut whole = None;
        for index in 0..items.len / 2 {
            let key = self.forms.child(items, 2 * index);
            let value = self.forms.child(items, 2 * index + 1);
            match self.forms.form(key) {
                Form::Keyword(name) => match self.names.text(name) {
                    "keys" => self.named_entries(false, value, &defaults, &mut entries)?,
                    "strs" => self.named_entries(true, value, &defaults, &mut entries)?,
                    "or" => {}
                    "as" => match self.forms.form(value) {
                        Form::Symbol(_) => whole = Some(value),
                        _ => return Err(self.unsupported(value)),
                    },
                    _ => return Err(self.unsupported(at)),
                },
                Form::Symbol(_) | Form::Vector(_) | Form::Map(_) => {
                    let key_value = self.source_key(value)?;
                    let default = match self.forms.form(key) {
                        Form::Symbol(name) => defaults.of(name),
                        _ => None,
                    };
                    entries.push(Entry {
                        pattern: self.pattern(key)?,
                        key: key_value,
                        default,
                    });
                }
                _ => return Err(self.unsupported(at)),
            }
        }
        if entries.is_empty() {
            return Err(self.problem(PATTERN, "empty_pattern", parts![self.text_of(at)], at));
        }
        let whole = match whole {
            Some(form) => match self.pattern(form)? {
                Pattern::Local(local) => Some(local),
                _ => None,
            },
            None => None,
        };
        Ok(Pattern::Map { entries, whole })
    }

    /// `:keys [a :b]`, `:strs [a]`
    fn named_entries(
        &mut self,
        strings: bool,
        form: FormId,
        defaults: &Defaults,
        entries: &mut Vec<Entry>,
    ) -> Result<(), Problem> {
        let Form::Vector(items) = self.forms.form(form) else {
            let word = if strings { ":strs" } else { ":keys" };
            return Err(self.problem(FORM, "keys_form", parts![word], form));
        };
        for index in 0..items.len {
            let item = self.forms.child(items, index);
            let name = match self.forms.form(item) {
                Form::Symbol(name) => match self.meaning(name) {
                    Meaning::Qualified(_) => return Err(self.invalid("keys_element", item)),
                    Meaning::Placeholder(_) => return Err(self.stray_placeholder(name, item)),
                    _ => name,
                },
                Form::Keyword(name) => name,
                _ => return Err(self.invalid("keys_element", item)),
            };
            let text = self.names.text(name).to_string();
            entries.push(Entry {
                pattern: Pattern::Local(self.bind_name(name)),
                key: match strings {
                    true => Literal::Str(text),
                    false => Literal::Keyword(text),
                },
                default: defaults.of(name),
            });
        }
        Ok(())
    }

    /// Returns the key that a pattern is bound to: of a keyword, a string, or a symbol, which means its keyword.
    fn source_key(&mut self, form: FormId) -> Result<Literal, Problem> {
        match self.forms.form(form) {
            Form::Keyword(name) => Ok(Literal::Keyword(self.names.text(name).to_string())),
            Form::Text(index) => Ok(Literal::Str(self.forms.texts[index as usize].to_string())),
            Form::Symbol(name) if !matches!(self.meaning(name), Meaning::Qualified(_)) => {
                Ok(Literal::Keyword(self.names.text(name).to_string()))
            }
            _ => Err(self.problem(FORM, "source_key", parts![self.shown(form)], form)),
        }
    }

    /// Returns what `:or` gives.
    fn defaults(&self, items: Items) -> Result<Defaults, Problem> {
        let mut defaults = Defaults(Vec::new());
        for index in 0..items.len / 2 {
            if !self.is_keyword(self.forms.child(items, 2 * index), "or") {
                continue;
            }
            let form = self.forms.child(items, 2 * index + 1);
            let Form::Map(pairs) = self.forms.form(form) else {
                return Err(self.invalid("or_form", form));
            };
            for pair in 0..pairs.len / 2 {
                let key = self.forms.child(pairs, 2 * pair);
                let value = self.forms.child(pairs, 2 * pair + 1);
                let Form::Symbol(name) = self.forms.form(key) else {
                    return Err(self.invalid("or_key", key));
                };
                defaults.0.push((name, self.default(value)?));
            }
        }
        // Later ones come first, and of equal names only one is left.
        defaults.0.reverse();
        defaults.0.sort_by_key(|(name, _)| *name);
        defaults.0.dedup_by_key(|(name, _)| *name);
        Ok(defaults)
    }

    /// Returns a default: a literal. A keyword that is no atom outside is a string.
    fn default(&self, form: FormId) -> Result<Literal, Problem> {
        let literal = match self.forms.form(form) {
            Form::Regex(_) | Form::Quoted(_) => None,
            form => self.literal(form),
        };
        match literal {
            Some(Literal::Keyword(name)) if Vocabulary::of(&name).is_none() => {
                Ok(Literal::Str(name))
            }
            Some(literal) => Ok(literal),
            None => Err(self.problem(FORM, "or_value", parts![self.text_of(form)], form)),
        }
    }
}

/// Defaults by name, in the order of the names' numbers.
struct Defaults(Vec<(SymbolId, Literal)>);

impl Defaults {
    fn of(&self, name: SymbolId) -> Option<Literal> {
        let place = self.0.binary_search_by_key(&name, |(known, _)| *known);
        Some(self.0[place.ok()?].1.clone())
    }
}
