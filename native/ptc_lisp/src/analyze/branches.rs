//! `if`, `when`, `cond`, `case`, `condp`, `and`, `or`.

use super::meaning::Meaning;
use super::problems::FORM;
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::{Literal, Problem};
use crate::read::{Form, FormId, Items};

impl Analyzer<'_> {
    /// `(if c a b)`, `(if-not c a b)`
    pub(super) fn if_or_not(
        &mut self,
        negated: bool,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len != 2 && args.len != 3 {
            let name = if negated { "if-not" } else { "if" };
            return Err(self.arity("expected_if", name, at));
        }
        self.tasks.push(Task::Build(Build::If, at));
        let then = Task::Form(self.forms.child(args, 1), place.branch());
        let other = match args.len {
            3 => Task::Form(self.forms.child(args, 2), place.branch()),
            _ => Task::Nil(at),
        };
        match negated {
            true => self.tasks.extend([then, other]),
            false => self.tasks.extend([other, then]),
        }
        self.push(self.forms.child(args, 0), Place::OPERAND);
        Ok(())
    }

    /// `(when c body…)`, `(when-not c body…)`
    pub(super) fn when_or_not(
        &mut self,
        negated: bool,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len == 0 {
            let name = if negated { "when-not" } else { "when" };
            return Err(self.arity("expected_when", name, at));
        }
        self.tasks.push(Task::Build(Build::If, at));
        if negated {
            self.body(args.skip(1), at, place.branch());
            self.tasks.push(Task::Nil(at));
        } else {
            self.tasks.push(Task::Nil(at));
            self.body(args.skip(1), at, place.branch());
        }
        self.push(self.forms.child(args, 0), Place::OPERAND);
        Ok(())
    }

    /// `(cond t e …)`
    pub(super) fn cond(&mut self, args: Items, at: FormId, place: Place) -> Result<(), Problem> {
        if args.len % 2 == 1 {
            return Err(self.problem("invalid_cond_form", "odd_clauses", Vec::new(), at));
        }
        let mut clauses = args.len / 2;
        let last = clauses.checked_sub(1).map(|last| 2 * last);
        let default = last.filter(|last| self.is_keyword(self.forms.child(args, *last), "else"));
        if default.is_some() {
            clauses -= 1;
        }
        self.tasks.push(Task::Build(Build::Cond(clauses), at));
        match default {
            Some(last) => self.push(self.forms.child(args, last + 1), place.branch()),
            None => self.tasks.push(Task::Nil(at)),
        }
        for index in (0..clauses).rev() {
            self.push(self.forms.child(args, 2 * index + 1), place.branch());
            self.push(self.forms.child(args, 2 * index), Place::OPERAND);
        }
        Ok(())
    }

    /// `(and …)`, `(or …)`
    pub(super) fn and_or_or(&mut self, is_or: bool, args: Items, at: FormId, place: Place) {
        let Some(last) = args.len.checked_sub(1) else {
            let empty = if is_or {
                Literal::Nil
            } else {
                Literal::Bool(true)
            };
            return self.constant(empty, at);
        };
        let (build, operand) = match is_or {
            true => (Build::Or(args.len), Place::OF_OR),
            false => (Build::And(args.len), Place::OPERAND),
        };
        if args.len > 1 {
            self.tasks.push(Task::Build(build, at));
        }
        self.push(self.forms.child(args, last), place.branch().and(operand));
        self.push_all(args.take(last), operand);
    }

    /// `(case e v r … default?)`
    pub(super) fn case(&mut self, args: Items, at: FormId, place: Place) -> Result<(), Problem> {
        if args.len == 0 {
            return Err(self.invalid("case_subject", at));
        }
        let rest = args.skip(1);
        let clauses = rest.len / 2;
        let has_default = rest.len % 2 == 1;
        for index in 0..clauses {
            let values = self.case_values(self.forms.child(rest, 2 * index))?;
            self.cases.push(values);
        }
        self.tasks
            .push(Task::Build(Build::Case(clauses, has_default), at));
        if has_default {
            self.push(self.forms.child(rest, 2 * clauses), place.branch());
        }
        for index in (0..clauses).rev() {
            self.push(self.forms.child(rest, 2 * index + 1), place.branch());
        }
        self.push(self.forms.child(args, 0), Place::OPERAND);
        Ok(())
    }

    /// Returns the values of a clause of `case`.
    fn case_values(&self, id: FormId) -> Result<Vec<Literal>, Problem> {
        let constant = |id: FormId| {
            let literal = match self.forms.form(id) {
                Form::Regex(_) | Form::Quoted(_) => None,
                form => self.literal(form),
            };
            literal.ok_or_else(|| self.invalid("case_constant", id))
        };
        match self.forms.form(id) {
            Form::List(items) if items.len == 0 => Err(self.invalid("case_group", id)),
            Form::List(items) => {
                let items = self.forms.children(items);
                items.iter().map(|item| constant(*item)).collect()
            }
            _ => Ok(vec![constant(id)?]),
        }
    }

    /// `(condp p e t r … default?)`: `(p t e)` decides.
    pub(super) fn condp(&mut self, args: Items, at: FormId, place: Place) -> Result<(), Problem> {
        if args.len < 3 {
            return Err(self.problem(FORM, "condp_arity", Vec::new(), at));
        }
        let rest = args.skip(2);
        let clauses = rest.len / 2;
        if clauses == 0 {
            return Err(self.invalid("condp_clause", at));
        }
        let mut results = self.forms.children(rest).iter().skip(1).step_by(2).copied();
        if let Some(arrow) = results.find(|result| self.is_keyword(*result, ">>")) {
            return Err(self.invalid("condp_result", arrow));
        }
        let (predicate, subject) = (self.forms.child(args, 0), self.forms.child(args, 1));
        let asks = match self.names_builtin(predicate) {
            true => None,
            false => Some(self.nameless()),
        };
        let value = self.nameless();
        let bindings = 1 + u32::from(asks.is_some());
        self.tasks.push(Task::Build(Build::Let(bindings), at));
        self.open(place.counts());
        self.tasks.push(Task::Build(Build::Cond(clauses), at));
        match rest.len % 2 {
            1 => self.push(self.forms.child(rest, 2 * clauses), place.branch()),
            _ => self.tasks.push(Task::Nil(at)),
        }
        for index in (0..clauses).rev() {
            let test = self.forms.child(rest, 2 * index);
            self.push(self.forms.child(rest, 2 * index + 1), place.branch());
            self.tasks.push(Task::Build(Build::Call(2), test));
            self.tasks.push(Task::Local(value, subject));
            self.push(test, Place::OPERAND);
            match asks {
                Some(local) => self.tasks.push(Task::Local(local, predicate)),
                None => self.push(predicate, Place::OPERAND),
            }
        }
        self.tasks.push(Task::BindLocal(value));
        self.push(subject, Place::COUNTS);
        if let Some(local) = asks {
            self.tasks.push(Task::BindLocal(local));
            self.push(predicate, Place::COUNTS);
        }
        Ok(())
    }

    /// Returns whether a form is the name of a built-in which nothing in the program shadows here.
    fn names_builtin(&mut self, id: FormId) -> bool {
        match self.forms.form(id) {
            Form::Symbol(name) => {
                let free = self.scope.local(name).is_none() && !self.defs.is_visible(name);
                free && matches!(self.meaning(name), Meaning::Builtin(_))
            }
            _ => false,
        }
    }

    /// Returns whether a form is this keyword.
    pub(super) fn is_keyword(&self, id: FormId, name: &str) -> bool {
        matches!(self.forms.form(id), Form::Keyword(found) if self.names.text(found) == name)
    }
}
