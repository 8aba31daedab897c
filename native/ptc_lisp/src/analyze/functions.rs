//! Functions: `fn`, and `#(…)` with its placeholders.

use super::meaning::Meaning;
use super::problems::{parts, ARITY, FORM};
use super::task::{Place, Task};
use super::Analyzer;
use crate::ast::{Expr, ExprId, Function, FunctionId, LocalId, Pattern, Problem};
use crate::read::{Form, FormId, Items, SymbolId};

/// The most parameters of `#(…)`.
const MOST: u32 = 20;

/// A `#(…)` that is analyzed.
#[derive(Debug, Clone)]
pub struct Short {
    function: FunctionId,
    /// Its parameters, as far as its body names them.
    params: Vec<Option<LocalId>>,
    /// What `%&` is.
    rest: Option<LocalId>,
}

impl Analyzer<'_> {
    /// `(fn [p…] body…)`, `(fn name [p…] body…)`
    pub(super) fn function(&mut self, args: Items, at: FormId) -> Result<(), Problem> {
        if args.len == 0 {
            return Err(self.problem(ARITY, "expected_fn", Vec::new(), at));
        }
        let first = self.forms.child(args, 0);
        let own = match self.forms.form(first) {
            Form::Symbol(name) if args.len > 1 => Some(name),
            _ => None,
        };
        let behind = u32::from(own.is_some());
        let params = self.forms.child(args, behind);
        if !matches!(self.forms.form(params), Form::Vector(_)) {
            return Err(self.invalid("params_vector", params));
        }
        if let Some(name) = own {
            match self.meaning(name) {
                Meaning::Placeholder(_) => return Err(self.stray_placeholder(name, first)),
                Meaning::Qualified(_) => return Err(self.unsupported(first)),
                _ => {}
            }
        }
        let name = own.or_else(|| self.name_by_definition(at));
        self.begin_function(own, name, params, args.skip(behind + 1), None, at)
    }

    /// Returns the name that a definition gives to a function form.
    fn name_by_definition(&mut self, at: FormId) -> Option<SymbolId> {
        let (form, name) = self.defined_as?;
        (form == at).then_some(name)
    }

    /// Begins a function: binds its parameters, and pushes the tasks of its body and its end.
    pub(super) fn begin_function(
        &mut self,
        own: Option<SymbolId>,
        name: Option<SymbolId>,
        params: FormId,
        body: Items,
        doc: Option<String>,
        at: FormId,
    ) -> Result<(), Problem> {
        let function = self.new_function(name, doc, at);
        self.tasks.push(Task::EndFunction(function, at));
        self.open(false);
        let own = own.map(|name| self.bind_name(name));
        let Form::Vector(params) = self.forms.form(params) else {
            return Err(self.invalid("params_vector", params));
        };
        let (fixed, rest) = self.split_rest(params)?;
        let mut printed = Vec::with_capacity(params.len as usize);
        let mut patterns = Vec::with_capacity(fixed.len as usize);
        for index in 0..fixed.len {
            let param = self.forms.child(fixed, index);
            printed.push(self.printed(param));
            patterns.push(self.pattern(param)?);
        }
        let rest = match rest {
            Some(rest) => {
                printed.extend(["&".to_string(), self.printed(rest)]);
                Some(self.pattern(rest)?)
            }
            None => None,
        };
        let made = &mut self.out.functions[function as usize];
        made.own = own;
        made.params = patterns;
        made.rest = rest;
        made.printed = printed;
        self.body(body, at, Place::TAIL.and(Place::COUNTS));
        Ok(())
    }

    fn new_function(
        &mut self,
        name: Option<SymbolId>,
        doc: Option<String>,
        at: FormId,
    ) -> FunctionId {
        let function = self.out.functions.len() as FunctionId;
        let threaded = self.is_threaded(at).then(|| self.written(at));
        self.out.functions.push(Function {
            own: None,
            name: name.map(|name| self.names.text(name).to_string()),
            params: Vec::new(),
            rest: None,
            printed: Vec::new(),
            body: 0,
            doc,
            source: self.forms.span(at),
            threaded,
            unit: self.unit,
            parent: self.function,
        });
        self.function = Some(function);
        function
    }

    /// Ends a function: the last result is its body.
    pub(super) fn end_function(&mut self, function: FunctionId, at: FormId) {
        let body = self.one();
        let made = &mut self.out.functions[function as usize];
        made.body = body as ExprId;
        self.function = made.parent;
        if (self.short.as_ref()).is_some_and(|short| short.function == function) {
            self.end_short(function);
        }
        self.result(Expr::Fn(function), at);
    }

    fn printed(&self, param: FormId) -> String {
        match self.forms.form(param) {
            Form::Symbol(name) => self.names.text(name).to_string(),
            _ => "_".to_string(),
        }
    }

    /// `#(…)`
    pub(super) fn short(&mut self, items: Items, at: FormId) -> Result<(), Problem> {
        if self.short.is_some() {
            return Err(self.invalid("nested_short", at));
        }
        let name = self.name_by_definition(at);
        let function = self.new_function(name, None, at);
        self.short = Some(Short {
            function,
            params: Vec::new(),
            rest: None,
        });
        self.tasks.push(Task::EndFunction(function, at));
        self.open(false);
        match items.len {
            0 => self.tasks.push(Task::Nil(at)),
            1 if !self.is_call(self.forms.child(items, 0)) => {
                self.push(self.forms.child(items, 0), Place::TAIL);
            }
            _ => {
                let span = self.forms.span(at);
                let body = self.forms.add(Form::List(items), span);
                self.push(body, Place::TAIL);
            }
        }
        Ok(())
    }

    /// Returns whether a form that is all of `#(…)` is called: a plain symbol or a tool is.
    fn is_call(&mut self, form: FormId) -> bool {
        let Form::Symbol(name) = self.forms.form(form) else {
            return false;
        };
        match self.meaning(name) {
            Meaning::Placeholder(_) => false,
            Meaning::Qualified(slash) => self.halves(name, slash).0 == "tool",
            _ => true,
        }
    }

    /// Gives `#(…)` the parameters that its body names, and those before them.
    fn end_short(&mut self, function: FunctionId) {
        let Some(short) = self.short.take() else {
            return;
        };
        let mut params = Vec::with_capacity(short.params.len());
        let mut printed = Vec::with_capacity(short.params.len() + 2);
        self.function = Some(function);
        for (index, local) in short.params.into_iter().enumerate() {
            let number = index + 1;
            let local = local.unwrap_or_else(|| self.local(&format!("%{number}")));
            params.push(Pattern::Local(local));
            printed.push(format!("p{number}"));
        }
        if short.rest.is_some() {
            printed.extend(["&".to_string(), "rest".to_string()]);
        }
        let made = &mut self.out.functions[function as usize];
        made.params = params;
        made.printed = printed;
        made.rest = short.rest.map(Pattern::Local);
        self.function = made.parent;
    }

    /// Returns the local of a placeholder: 0 is `%&`.
    pub(super) fn placeholder(
        &mut self,
        number: u32,
        name: SymbolId,
        at: FormId,
    ) -> Result<LocalId, Problem> {
        let known = match number {
            0 => "%&".to_string(),
            _ => format!("%{number}"),
        };
        let Some(short) = self.short.as_mut() else {
            return self.captured(&known, name, at);
        };
        if number > MOST {
            let parts = parts![self.names.text(name)];
            return Err(self.problem(FORM, "placeholder_limit", parts, at));
        }
        let function = short.function;
        let found = match number.checked_sub(1) {
            None => &mut short.rest,
            Some(index) => {
                let index = index as usize;
                if short.params.len() <= index {
                    short.params.resize(index + 1, None);
                }
                &mut short.params[index]
            }
        };
        if let Some(local) = *found {
            return Ok(local);
        }
        let local = self.out.locals.len() as LocalId;
        *found = Some(local);
        self.out.locals.push(crate::ast::Local {
            name: known,
            function: Some(function),
        });
        Ok(local)
    }

    /// Returns the local of a placeholder outside of `#(…)`: a function of the memory may have captured one.
    fn captured(&mut self, known: &str, name: SymbolId, at: FormId) -> Result<LocalId, Problem> {
        let local = (self.unit > 0)
            .then(|| self.names.find(known))
            .flatten()
            .and_then(|found| self.scope.local(found));
        local.ok_or_else(|| self.stray_placeholder(name, at))
    }

    /// Makes the problem of a placeholder outside of `#(…)`.
    pub(super) fn stray_placeholder(&self, name: SymbolId, at: FormId) -> Problem {
        let parts = parts![self.names.text(name)];
        self.problem("invalid_placeholder", "placeholder", parts, at)
    }
}
