//! `let`, `loop`, and the forms that bind one name: `if-let`, `when-let`, `if-some`, `when-some`, `when-first`, `as->`.

use super::problems::{parts, FORM, THREAD};
use super::special::Special;
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::Problem;
use crate::read::{Form, FormId, Items};
use crate::table::Builtin;

impl Analyzer<'_> {
    /// Returns the pairs of a vector of bindings.
    pub(super) fn pairs(&self, vector: FormId) -> Result<Items, Problem> {
        // The messages say `let` for `loop` too.
        match self.forms.form(vector) {
            Form::Vector(pairs) if pairs.len % 2 == 0 => Ok(pairs),
            Form::Vector(_) => Err(self.problem(FORM, "bindings_odd", parts!["let"], vector)),
            _ => Err(self.problem(FORM, "bindings_vector", parts!["let"], vector)),
        }
    }

    /// `(let [p e …] body…)`, `(loop [p e …] body…)`
    pub(super) fn let_or_loop(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len == 0 {
            return Err(self.arity("expected_bindings", special.name(), at));
        }
        let pairs = self.pairs(self.forms.child(args, 0))?;
        let count = pairs.len / 2;
        let (build, tail) = match special {
            Special::Loop => (Build::Loop(count), Place::TAIL),
            _ => (Build::Let(count), place.branch()),
        };
        self.tasks.push(Task::Build(build, at));
        self.open(place.counts());
        self.body(args.skip(1), at, tail.and(Place::COUNTS));
        self.push_pairs(pairs);
        Ok(())
    }

    /// Pushes the tasks of bindings: each value, then its pattern.
    pub(super) fn push_pairs(&mut self, pairs: Items) {
        for index in (0..pairs.len / 2).rev() {
            self.tasks
                .push(Task::Bind(self.forms.child(pairs, 2 * index)));
            self.push(self.forms.child(pairs, 2 * index + 1), Place::COUNTS);
        }
    }

    /// Returns the name and the value of the one binding of a form.
    fn one_binding(&self, special: Special, vector: FormId) -> Result<(FormId, FormId), Problem> {
        let (name, value) = match self.forms.form(vector) {
            Form::Vector(pair) if pair.len == 2 => {
                (self.forms.child(pair, 0), self.forms.child(pair, 1))
            }
            _ => {
                let parts = parts![special.name()];
                return Err(self.problem(FORM, "one_binding", parts, vector));
            }
        };
        match self.forms.form(name) {
            Form::Symbol(_) => Ok((name, value)),
            _ => Err(self.invalid("binding_symbol", name)),
        }
    }

    /// `(if-let [x e] a b)`, `(if-some [x e] a b)`: x is bound in both branches.
    pub(super) fn if_binding(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len != 3 {
            return Err(self.arity("expected_if_binding", special.name(), at));
        }
        let (name, value) = self.one_binding(special, self.forms.child(args, 0))?;
        let (then, other) = (self.forms.child(args, 1), self.forms.child(args, 2));
        self.tasks.push(Task::Build(Build::Let(1), at));
        self.open(place.counts());
        let build = match special {
            Special::IfSome => Build::IfSome,
            _ => Build::If,
        };
        self.tasks.push(Task::Build(build, at));
        self.push(other, place.branch());
        self.push(then, place.branch());
        self.push(name, Place::OPERAND);
        self.tasks.push(Task::Bind(name));
        self.push(value, Place::COUNTS);
        Ok(())
    }

    /// `(when-let [x e] body…)`, `(when-some [x e] body…)`
    pub(super) fn when_binding(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len == 0 {
            return Err(self.arity("expected_when_binding", special.name(), at));
        }
        let (name, value) = self.one_binding(special, self.forms.child(args, 0))?;
        self.tasks.push(Task::Build(Build::Let(1), at));
        self.open(place.counts());
        let build = match special {
            Special::WhenSome => Build::IfSome,
            _ => Build::If,
        };
        self.tasks.push(Task::Build(build, at));
        self.tasks.push(Task::Nil(at));
        self.body(args.skip(1), at, place.branch());
        self.push(name, Place::OPERAND);
        self.tasks.push(Task::Bind(name));
        self.push(value, Place::COUNTS);
        Ok(())
    }

    /// `(when-first [x coll] body…)`: the body with the first item of `(seq coll)`, if that is not nil.
    pub(super) fn when_first(
        &mut self,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len == 0 {
            return Err(self.arity("expected_when_binding", "when-first", at));
        }
        let (name, coll) = self.one_binding(Special::WhenFirst, self.forms.child(args, 0))?;
        let items = self.nameless();
        self.tasks.push(Task::Build(Build::Let(1), at));
        self.open(place.counts());
        self.tasks.push(Task::Build(Build::IfNil, at));
        self.tasks.push(Task::Build(Build::Let(1), at));
        self.body(args.skip(1), at, place.branch());
        self.tasks.push(Task::Bind(name));
        self.tasks.push(Task::Build(Build::Call(1), at));
        self.tasks.push(Task::Local(items, at));
        self.tasks.push(Task::Builtin(Builtin::First, at));
        self.tasks.push(Task::Nil(at));
        self.tasks.push(Task::Local(items, at));
        self.tasks.push(Task::BindLocal(items));
        self.tasks.push(Task::Build(Build::Call(1), coll));
        self.push(coll, Place::COUNTS);
        self.tasks.push(Task::Builtin(Builtin::Seq, coll));
        Ok(())
    }

    /// `(as-> e n f…)`
    pub(super) fn thread_as(
        &mut self,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if args.len < 2 {
            return Err(self.problem(THREAD, "thread_as", Vec::new(), at));
        }
        let name = self.forms.child(args, 1);
        if !matches!(self.forms.form(name), Form::Symbol(_)) {
            return Err(self.problem(THREAD, "thread_name", parts![self.text_of(name)], name));
        }
        let steps = args.skip(2);
        // Each step but the last one is the value of a binding.
        let bindings = steps.len.max(1);
        self.tasks.push(Task::Build(Build::Let(bindings), at));
        self.open(place.counts());
        match steps.len {
            0 => self.push(name, Place::OPERAND),
            _ => self.push(
                self.forms.child(steps, steps.len - 1),
                place.branch().and(Place::COUNTS),
            ),
        }
        for index in (0..bindings - 1).rev() {
            self.tasks.push(Task::Bind(name));
            self.push(self.forms.child(steps, index), Place::COUNTS);
        }
        self.tasks.push(Task::Bind(name));
        self.push(self.forms.child(args, 0), Place::COUNTS);
        Ok(())
    }
}
