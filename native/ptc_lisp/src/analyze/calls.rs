//! Lists: special forms, calls, and calls of tools.

use super::meaning::Meaning;
use super::problems::{parts, ARITY, FORM};
use super::special::Special;
use super::task::{Build, Place, Task};
use super::Analyzer;
use crate::ast::{Literal, Problem};
use crate::read::{Form, FormId, Items, SymbolId};

impl Analyzer<'_> {
    /// Analyzes a list.
    #[inline]
    pub(super) fn list(&mut self, items: Items, at: FormId, place: Place) -> Result<(), Problem> {
        if items.len == 0 {
            return Err(self.invalid("empty_list", at));
        }
        let head = self.forms.child(items, 0);
        let args = items.skip(1);
        let Form::Symbol(name) = self.forms.form(head) else {
            self.call(items, at);
            return Ok(());
        };
        match self.meaning(name) {
            Meaning::Special(special) if special.is_fixed() || self.scope.local(name).is_none() => {
                self.special(special, args, at, place)
            }
            Meaning::Qualified(slash) => self.qualified_call(name, slash, items, at),
            Meaning::Try if self.is_free(name) => self.try_or_call(items, at),
            Meaning::Throw if self.tries > 0 && self.is_free(name) => {
                Err(self.invalid("throw", at))
            }
            _ => {
                self.call(items, at);
                Ok(())
            }
        }
    }

    /// Returns whether no local and no definition has a name.
    pub(super) fn is_free(&self, name: SymbolId) -> bool {
        self.scope.local(name).is_none() && !self.defs.is_visible(name)
    }

    /// Pushes the tasks of a call.
    fn call(&mut self, items: Items, at: FormId) {
        self.tasks.push(Task::Build(Build::Call(items.len - 1), at));
        self.push_all(items, Place::OPERAND);
    }

    /// Analyzes a call of `ns/name`.
    fn qualified_call(
        &mut self,
        name: SymbolId,
        slash: u32,
        items: Items,
        at: FormId,
    ) -> Result<(), Problem> {
        let args = items.skip(1);
        match self.halves(name, slash) {
            ("tool", tool) => {
                let tool = self.tool(tool);
                self.call_tool(tool, args, at);
            }
            ("budget", "remaining") if args.len > 0 => return Err(self.budget_arguments(at)),
            ("budget", "remaining") => self.push(self.forms.child(items, 0), Place::OPERAND),
            _ => self.call(items, at),
        }
        Ok(())
    }

    fn call_tool(&mut self, tool: u32, args: Items, at: FormId) {
        let named = args.len.is_multiple_of(2)
            && (self.forms.children(args).iter().step_by(2))
                .all(|key| matches!(self.forms.form(*key), Form::Keyword(_)));
        self.tasks.push(Task::Build(
            match args.len {
                0 => Build::Tool(tool, false),
                1 => Build::Tool(tool, true),
                _ if named => Build::NamedTool(tool, args.len / 2),
                _ => Build::BadTool(tool, args.len),
            },
            at,
        ));
        self.push_all(args, Place::OPERAND);
    }

    /// Analyzes a special form.
    fn special(
        &mut self,
        special: Special,
        args: Items,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        match special {
            Special::Let | Special::Loop => self.let_or_loop(special, args, at, place),
            Special::If => self.if_or_not(false, args, at, place),
            Special::IfNot => self.if_or_not(true, args, at, place),
            Special::When => self.when_or_not(false, args, at, place),
            Special::WhenNot => self.when_or_not(true, args, at, place),
            Special::IfLet | Special::IfSome => self.if_binding(special, args, at, place),
            Special::WhenLet | Special::WhenSome => self.when_binding(special, args, at, place),
            Special::WhenFirst => self.when_first(args, at, place),
            Special::Cond => self.cond(args, at, place),
            Special::Case => self.case(args, at, place),
            Special::Condp => self.condp(args, at, place),
            Special::And => {
                self.and_or_or(false, args, at, place);
                Ok(())
            }
            Special::Or => {
                self.and_or_or(true, args, at, place);
                Ok(())
            }
            Special::Do => {
                self.body(args, at, place);
                Ok(())
            }
            Special::First => self.thread(false, args, at, place),
            Special::Last => self.thread(true, args, at, place),
            Special::As => self.thread_as(args, at, place),
            Special::CondFirst | Special::CondLast => self.thread_cond(special, args, at, place),
            Special::SomeFirst | Special::SomeLast => self.thread_some(special, args, at, place),
            Special::For => self.rounds(true, args, at),
            Special::Doseq => self.rounds(false, args, at),
            Special::Fn => self.function(args, at),
            Special::Def | Special::Defonce => self.def(special, args, at, place),
            Special::Defn => self.defn(args, at, place),
            Special::Recur => {
                if !place.is_tail() {
                    return Err(self.invalid("recur_not_tail", at));
                }
                self.several(Build::Recur(args.len), args, at)
            }
            Special::Return if args.len == 1 => self.several(Build::Return, args, at),
            Special::Fail if args.len == 1 => self.several(Build::Fail, args, at),
            Special::Return | Special::Fail => {
                let operand = if special == Special::Return {
                    "value"
                } else {
                    "error"
                };
                let parts = parts![special.name(), operand];
                Err(self.problem(ARITY, "expected_end", parts, at))
            }
            Special::Juxt if args.len == 0 => Err(self.arity("expected_juxt", "juxt", at)),
            Special::Juxt => self.several(Build::Juxt(args.len), args, at),
            Special::Apply if args.len < 2 => Err(self.arity("expected_apply", "apply", at)),
            Special::Apply => self.several(Build::Apply(args.len - 1), args, at),
            Special::Pmap if args.len < 2 => Err(self.arity("expected_pmap", "pmap", at)),
            Special::Pmap => self.several(Build::Pmap(args.len - 1), args, at),
            Special::Pcalls => self.several(Build::Pcalls(args.len), args, at),
            Special::Comment => {
                self.constant(Literal::Nil, at);
                Ok(())
            }
            Special::Quote => self.quote(args, at),
            Special::Dot => Err(self.invalid("dot", at)),
        }
    }

    /// Pushes the tasks of operands, and of the expression that is built of them.
    fn several(&mut self, build: Build, args: Items, at: FormId) -> Result<(), Problem> {
        self.tasks.push(Task::Build(build, at));
        self.push_all(args, Place::OPERAND);
        Ok(())
    }

    /// `(quote s)`
    fn quote(&mut self, args: Items, at: FormId) -> Result<(), Problem> {
        if args.len != 1 {
            return Err(self.problem(ARITY, "expected_quote", parts![args.len], at));
        }
        let quoted = self.forms.child(args, 0);
        match self.forms.form(quoted) {
            Form::Symbol(name) => {
                let name = self.names.text(name).to_string();
                self.constant(Literal::Symbol(name), at);
                Ok(())
            }
            _ => Err(self.problem(FORM, "quote_symbol", parts![self.shown(quoted)], quoted)),
        }
    }
}
