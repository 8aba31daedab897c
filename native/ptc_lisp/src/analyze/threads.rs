//! `->`, `->>`, and their conditional kin.

use super::meaning::Meaning;
use super::problems::{parts, THREAD};
use super::special::Special;
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::Problem;
use crate::read::{Form, FormId, Items};

impl Analyzer<'_> {
    /// `(-> x f…)`, `(->> x f…)`
    pub(super) fn thread(
        &mut self,
        last: bool,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        let name = if last { "->>" } else { "->" };
        self.need_value(name, args, at)?;
        let mut value = self.forms.child(args, 0);
        for index in 1..args.len {
            value = self.step(last, self.forms.child(args, index), value)?;
        }
        self.push(value, place);
        Ok(())
    }

    fn need_value(&self, name: &str, args: Items, at: FormId) -> Result<(), Problem> {
        match args.len {
            0 => Err(self.problem(THREAD, "thread_value", parts![name], at)),
            _ => Ok(()),
        }
    }

    /// Returns the form of a step with its value: a list gets it as its first or its last argument, and else the step is called
    /// with it.
    fn step(&mut self, last: bool, step: FormId, value: FormId) -> Result<FormId, Problem> {
        let span = self.forms.span(step);
        let items = match self.forms.form(step) {
            Form::List(items) if items.len == 0 => {
                return Err(self.problem(THREAD, "thread_step", Vec::new(), step));
            }
            Form::List(items) => {
                let place = if last { items.len } else { 1 };
                self.forms.with(items, place, value)
            }
            form => {
                let head = match form {
                    // The name of a special form is a name like others there.
                    Form::Symbol(name) if matches!(self.meaning(name), Meaning::Special(_)) => {
                        self.forms.add(Form::Plain(name), span)
                    }
                    _ => step,
                };
                self.forms.keep([head, value].into_iter())
            }
        };
        Ok(self.forms.add(Form::List(items), span))
    }

    /// `(cond-> e t f…)`, `(cond->> e t f…)`: each step is a binding, and the last one the body.
    pub(super) fn thread_cond(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        self.need_value(special.name(), args, at)?;
        let clauses = args.skip(1);
        if clauses.len % 2 == 1 {
            let parts = parts![special.name()];
            return Err(self.problem(THREAD, "thread_pairs", parts, at));
        }
        let last = special == Special::CondLast;
        let mut steps = Vec::with_capacity(clauses.len as usize / 2);
        for index in 0..clauses.len / 2 {
            let local = self.nameless();
            let step = self.forms.child(clauses, 2 * index + 1);
            let value = self.bound_form(local, step);
            let threaded = self.step(last, step, value)?;
            steps.push((local, self.forms.child(clauses, 2 * index), threaded, value));
        }
        let first = self.forms.child(args, 0);
        let Some(((_, test, threaded, value), others)) = steps.split_last() else {
            self.push(first, place);
            return Ok(());
        };
        self.tasks
            .push(Task::Build(Build::Let(steps.len() as u32), at));
        self.open(place.counts());
        self.conditional(*test, *threaded, *value, place.branch());
        for (index, (_, test, threaded, value)) in others.iter().enumerate().rev() {
            self.tasks.push(Task::BindLocal(steps[index + 1].0));
            self.conditional(*test, *threaded, *value, Place::OPERAND);
        }
        self.tasks.push(Task::BindLocal(steps[0].0));
        self.push(first, Place::COUNTS);
        Ok(())
    }

    /// Pushes the tasks of a step under a condition; else it is its value.
    fn conditional(&mut self, test: FormId, threaded: FormId, value: FormId, place: Place) {
        self.tasks.push(Task::Build(Build::If, threaded));
        self.push(value, Place::OPERAND);
        self.push(threaded, place);
        self.push(test, Place::OPERAND);
    }

    /// `(some-> e f…)`, `(some->> e f…)`: each step is a binding, nil if the one before it is, and the last one the body.
    pub(super) fn thread_some(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        self.need_value(special.name(), args, at)?;
        let last = special == Special::SomeLast;
        let mut steps = Vec::with_capacity(args.len as usize - 1);
        for index in 1..args.len {
            let local = self.nameless();
            let step = self.forms.child(args, index);
            let value = self.bound_form(local, step);
            let threaded = self.step(last, step, value)?;
            steps.push((local, threaded, value));
        }
        let first = self.forms.child(args, 0);
        let Some(((_, threaded, value), others)) = steps.split_last() else {
            self.push(first, place);
            return Ok(());
        };
        self.tasks
            .push(Task::Build(Build::Let(steps.len() as u32), at));
        self.open(place.counts());
        self.unless_nil(*threaded, *value, place.branch());
        for (index, (_, threaded, value)) in others.iter().enumerate().rev() {
            self.tasks.push(Task::BindLocal(steps[index + 1].0));
            self.unless_nil(*threaded, *value, Place::OPERAND);
        }
        self.tasks.push(Task::BindLocal(steps[0].0));
        self.push(first, Place::COUNTS);
        Ok(())
    }

    /// Pushes the tasks of a step, which is nil if its value is.
    fn unless_nil(&mut self, threaded: FormId, value: FormId, place: Place) {
        self.tasks.push(Task::Build(Build::IfNil, threaded));
        self.push(threaded, place);
        self.tasks.push(Task::Nil(threaded));
        self.push(value, Place::OPERAND);
    }

    /// Adds the form of a local without a name.
    fn bound_form(&mut self, local: u32, at: FormId) -> FormId {
        let span = self.forms.span(at);
        self.forms.add(Form::Bound(local), span)
    }
}
