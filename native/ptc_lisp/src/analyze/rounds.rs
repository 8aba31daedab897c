//! `for` and `doseq`.

use super::problems::{parts, ARITY, FORM};
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::Problem;
use crate::read::{Form, FormId, Items};

impl Analyzer<'_> {
    /// `(for [p c mods…] body…)`, `(doseq [p c mods…] body…)`
    pub(super) fn rounds(
        &mut self,
        collects: bool,
        args: Items,
        at: FormId,
    ) -> Result<(), Problem> {
        let word = if collects { "for" } else { "doseq" };
        if args.len == 0 {
            return Err(self.arity("expected_bindings", word, at));
        }
        let vector = self.forms.child(args, 0);
        let Form::Vector(bindings) = self.forms.form(vector) else {
            return Err(self.problem(FORM, "bindings_vector", parts![word], vector));
        };
        self.check_rounds(word, bindings, vector)?;
        if args.len == 1 {
            let code = if collects { "for_body" } else { "doseq_body" };
            return Err(self.problem(ARITY, code, Vec::new(), at));
        }
        let clauses = bindings.len / 2;
        self.tasks
            .push(Task::Build(Build::For(clauses, collects), at));
        self.open(false);
        self.body(args.skip(1), at, Place::COUNTS);
        for index in (0..clauses).rev() {
            let key = self.forms.child(bindings, 2 * index);
            let value = self.forms.child(bindings, 2 * index + 1);
            match self.modifier(key) {
                Some("let") => {
                    if let Form::Vector(pairs) = self.forms.form(value) {
                        self.tasks.push(Task::LetClause(pairs.len / 2));
                        self.push_pairs(pairs);
                    }
                }
                Some(modifier) => {
                    self.tasks.push(Task::Test(modifier == "while"));
                    self.push(value, Place::OPERAND);
                }
                None => {
                    self.tasks.push(Task::Each);
                    self.tasks.push(Task::Bind(key));
                    self.push(value, Place::OPERAND);
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a modifier.
    fn modifier(&self, form: FormId) -> Option<&'static str> {
        ["when", "while", "let"]
            .into_iter()
            .find(|name| self.is_keyword(form, name))
    }

    /// Checks the bindings of rounds.
    fn check_rounds(&self, word: &str, bindings: Items, at: FormId) -> Result<(), Problem> {
        if bindings.len == 0 {
            return Err(self.invalid("for_pair", at));
        }
        for index in 0..bindings.len.div_ceil(2) {
            let key = self.forms.child(bindings, 2 * index);
            let value =
                (2 * index + 1 < bindings.len).then(|| self.forms.child(bindings, 2 * index + 1));
            let Form::Keyword(name) = self.forms.form(key) else {
                match value {
                    Some(value) => self.check_collection(word, key, value)?,
                    None => return Err(self.invalid("for_trailing", key)),
                }
                continue;
            };
            let name = self.names.text(name);
            if index == 0 {
                return Err(self.problem(FORM, "for_keyword", parts![name], key));
            }
            let modifier = match self.modifier(key) {
                Some(modifier) => modifier,
                None => return Err(self.problem(FORM, "for_modifier", parts![name], key)),
            };
            let Some(value) = value else {
                return Err(self.problem(FORM, "for_value", parts![name], key));
            };
            if modifier == "let" {
                match self.forms.form(value) {
                    Form::Vector(_) => self.pairs(value)?,
                    _ => return Err(self.invalid("for_let", value)),
                };
            }
        }
        Ok(())
    }

    /// Refuses a literal that is no collection.
    fn check_collection(&self, word: &str, pattern: FormId, value: FormId) -> Result<(), Problem> {
        let kind = match self.forms.form(value) {
            Form::Int(_) | Form::Large(_) | Form::Float(_) => "number",
            Form::Keyword(_) => "keyword",
            _ => return Ok(()),
        };
        let parts = parts![word, self.text_of(pattern), self.shown(value), kind];
        Err(self.problem(ARITY, "for_collection", parts, value))
    }
}
