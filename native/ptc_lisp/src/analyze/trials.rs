//! `try` with a clause that catches.

use super::problems::{parts, FORM};
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::{Expr, Pattern, Problem};
use crate::read::{Form, FormId, Items};

impl Analyzer<'_> {
    /// `(try body… (catch e handler…))`, `(try body… (catch Exception e handler…))`. Without a clause it is a call.
    pub(super) fn try_or_call(&mut self, items: Items, at: FormId) -> Result<(), Problem> {
        let args = items.skip(1);
        let clause = |name: &str| {
            let args = self.forms.children(args);
            args.iter().position(|arg| self.is_clause(*arg, name))
        };
        let (catch, finally) = (clause("catch"), clause("finally"));
        if let Some(index) = finally {
            return Err(self.invalid("finally", self.forms.child(args, index as u32)));
        }
        let Some(index) = catch.map(|index| index as u32) else {
            self.tasks.push(Task::Build(Build::Call(args.len), at));
            self.push_all(items, Place::OPERAND);
            return Ok(());
        };
        let clause = self.forms.child(args, index);
        if index + 1 < args.len {
            let next = self.forms.child(args, index + 1);
            let code = match self.is_clause(next, "catch") {
                true => "several_catches",
                false => "catch_last",
            };
            return Err(self.invalid(code, next));
        }
        let (name, handler) = self.catch(clause)?;
        self.tries += 1;
        self.tasks.push(Task::EndTry(at));
        self.open(false);
        self.body(handler, clause, Place::COUNTS);
        self.tasks.push(Task::Bind(name));
        self.body(args.take(index), at, Place::OPERAND);
        Ok(())
    }

    /// Returns whether a form is a list with this symbol at its head.
    fn is_clause(&self, form: FormId, name: &str) -> bool {
        let Form::List(items) = self.forms.form(form) else {
            return false;
        };
        let head = self.forms.children(items).first();
        matches!(
            head.map(|head| self.forms.form(*head)),
            Some(Form::Symbol(found)) if self.names.text(found) == name && self.is_free(found)
        )
    }

    /// Returns the name that `catch` binds, and its handler. The name of a class may stand before.
    fn catch(&self, clause: FormId) -> Result<(FormId, Items), Problem> {
        let Form::List(items) = self.forms.form(clause) else {
            return Err(self.invalid("catch_form", clause));
        };
        let args = items.skip(1);
        let skipped = match self.forms.children(args) {
            [class, name, ..] if self.is_class(*class) && self.is_name(*name) => 1,
            [name, ..] if self.is_name(*name) => 0,
            _ => return Err(self.problem(FORM, "catch_form", parts![], clause)),
        };
        Ok((self.forms.child(args, skipped), args.skip(skipped + 1)))
    }

    fn is_name(&self, form: FormId) -> bool {
        matches!(self.forms.form(form), Form::Symbol(_))
    }

    /// Returns whether a form names a class of exceptions: `Exception`, `java.lang.Exception`, `:default`.
    fn is_class(&self, form: FormId) -> bool {
        match self.forms.form(form) {
            Form::Symbol(name) => {
                let name = self.names.text(name);
                name.contains('.') || name.starts_with(|first: char| first.is_ascii_uppercase())
            }
            Form::Keyword(_) => true,
            _ => false,
        }
    }

    /// Builds a `try` of its body and its handler.
    pub(super) fn end_try(&mut self, at: FormId) {
        self.tries -= 1;
        let handler = self.one();
        let body = self.one();
        match self.patterns.pop() {
            Some(Pattern::Local(local)) => self.result(Expr::Try(body, local, handler), at),
            _ => self.results.push(body),
        }
    }
}
