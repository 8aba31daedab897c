//! Literals: constants, vectors, maps and sets.

use super::problems::parts;
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::{Literal, Problem};
use crate::read::{Form, FormId, Items};

impl Analyzer<'_> {
    /// Returns the constant that a form is.
    pub(super) fn literal(&self, form: Form) -> Option<Literal> {
        let text = |index: u32| self.forms.texts[index as usize].to_string();
        let name = |name| self.names.text(name).to_string();
        Some(match form {
            Form::Nil => Literal::Nil,
            Form::Bool(value) => Literal::Bool(value),
            Form::Int(int) => Literal::Int(int),
            Form::Large(index) => Literal::Large(self.forms.large[index as usize].clone()),
            Form::Float(float) => Literal::Float(float),
            Form::Infinity => Literal::Infinity,
            Form::NegativeInfinity => Literal::NegativeInfinity,
            Form::NaN => Literal::NaN,
            Form::Text(index) => Literal::Str(text(index)),
            Form::Regex(index) => Literal::Regex(text(index)),
            Form::Keyword(keyword) => Literal::Keyword(name(keyword)),
            Form::Quoted(symbol) => Literal::Symbol(name(symbol)),
            _ => return None,
        })
    }

    /// `[…]`
    pub(super) fn vector(&mut self, items: Items, at: FormId) {
        self.tasks.push(Task::Build(Build::Vector(items.len), at));
        self.push_all(items, Place::OPERAND);
    }

    /// `{…}`: two keys must not be the same form.
    pub(super) fn map(&mut self, items: Items, at: FormId) -> Result<(), Problem> {
        let keys = self.forms.children(items).iter().step_by(2).copied();
        if let Some(key) = self.repeated(keys.collect()) {
            let code = ["duplicate_key", "duplicate_key_text", "duplicate_key_form"];
            return Err(self.duplicate(code, key));
        }
        self.tasks.push(Task::Build(Build::Map(items.len / 2), at));
        self.push_all(items, Place::OPERAND);
        Ok(())
    }

    /// `#{…}`: two elements must not be the same form.
    pub(super) fn set(&mut self, items: Items, at: FormId) -> Result<(), Problem> {
        let all = self.forms.children(items).to_vec();
        if let Some(element) = self.repeated(all) {
            let code = [
                "duplicate_element",
                "duplicate_element_text",
                "duplicate_element_form",
            ];
            return Err(self.duplicate(code, element));
        }
        self.tasks.push(Task::Build(Build::Set(items.len), at));
        self.push_all(items, Place::OPERAND);
        Ok(())
    }

    /// Makes the problem of a form that is there twice: of one that is shown, of a string, of another one.
    fn duplicate(&self, codes: [&'static str; 3], form: FormId) -> Problem {
        let (code, text) = match self.forms.form(form) {
            Form::Text(index) => (codes[1], self.forms.texts[index as usize].to_string()),
            Form::List(_) | Form::Vector(_) | Form::Map(_) | Form::Set(_) => {
                (codes[2], self.text_of(form))
            }
            _ => (codes[0], self.shown(form)),
        };
        self.problem("duplicate_key", code, parts![text], form)
    }
}
