//! The analysis: from forms to expressions.
//!
//! It is a stack of tasks and stacks of what they have made, so that neither deep nor long programs need the stack of the
//! thread, and each form is looked at once. A special form is a function that pushes the tasks of its parts, last ones first, and
//! the task that builds its expression.
//!
//! * `calls`, `literals`, `symbols`: lists, literals and names
//! * `bindings`, `branches`, `threads`, `rounds`, `functions`, `definitions`, `trials`: the special forms
//! * `build`: the expressions; `patterns`: what values are bound to; `scope`: what is bound where
//! * `added`: functions of the memory; `written`: texts of functions that no source has

mod added;
mod bindings;
mod branches;
mod build;
mod calls;
mod definitions;
mod functions;
mod literals;
mod meaning;
mod namespaces;
mod patterns;
mod problems;
mod rounds;
mod same;
mod scope;
mod spare;
mod special;
mod symbols;
mod task;
mod threads;
mod trials;
mod written;

use crate::ast::{
    Analyzed, Clause, Expr, ExprId, FunctionId, Literal, Local, LocalId, NameId, Pattern, Problem,
    Span,
};
use crate::patience::Patience;
use crate::read::{self, Form, FormId, Forms, Items, NameTable, SymbolId};
use functions::Short;
use meaning::Meaning;
use problems::too_many_symbols;
use scope::{Defs, DefsMark, Scope};
pub use spare::recycle;
use task::{Place, Task};

/// A source that is analyzed with the program: that of a function which the memory has, with the names that it has captured.
pub struct Added<'a> {
    /// Its text: one `(fn …)`, `#(…)` or `(defn …)`.
    pub source: &'a str,
    /// The names of what it has captured: locals around it, in this order.
    pub captured: &'a [String],
}

/// Reads and analyzes a program, and the functions that are added to it. Errors of these are not errors of the program: such a
/// function is one without code, whose body is nil.
pub fn analyze(source: &str, added: &[Added]) -> Result<Analyzed, Problem> {
    analyze_until(source, added, usize::MAX, &mut Patience::new(&mut || false))
}

/// Analyzes a program as long as it may go on, and if it has no more unique symbols and keywords than this.
pub fn analyze_until(
    source: &str,
    added: &[Added],
    most_symbols: usize,
    patience: &mut Patience,
) -> Result<Analyzed, Problem> {
    let mut memory = spare::analyzer();
    let analyzer = &mut *memory;
    analyzer.source = source;
    analyzer.forms.reserve(source.len());
    let forms = read::read(source, &mut analyzer.forms, &mut analyzer.names, patience)?;
    let symbols = analyzer.names.len();
    if symbols > most_symbols {
        return Err(too_many_symbols(symbols, most_symbols));
    }
    analyzer.out.symbols = symbols;
    analyzer.read_forms = analyzer.forms.len();
    analyzer.unwritten = WRITTEN * source.len();
    let top = analyzer.forms.keep(forms.into_iter());
    let whole = Span {
        start: 0,
        end: source.len() as u32,
    };
    let root = analyzer.forms.add(Form::List(top), whole);
    analyzer.body(top, root, Place::COUNTS);
    analyzer.work(patience)?;
    analyzer.out.root = analyzer.results.pop();
    for (number, added) in added.iter().enumerate() {
        analyzer.add(number as u32 + 1, added, patience)?;
    }
    Ok(spare::done(memory))
}

/// Where bindings and definitions begin that end together.
#[derive(Debug, Clone, Copy)]
struct Frame {
    scope: u32,
    defs: DefsMark,
}

/// Texts of functions that threading has made are at most this many times as long as the program.
const WRITTEN: usize = 4;

/// The number of no name.
const NO_NAME: u32 = u32::MAX;

#[derive(Default)]
struct Analyzer<'t> {
    /// The text that is analyzed.
    source: &'t str,
    /// Its number: 0 is the program.
    unit: u32,
    forms: Forms<'t>,
    /// The number of forms that were read; threading has made the others.
    read_forms: FormId,
    /// How many bytes of texts of such forms may still be written.
    unwritten: usize,
    names: NameTable<'t>,
    /// What the names mean, as far as anybody has asked.
    meanings: Vec<Option<Meaning>>,
    /// The numbers that names have in the result.
    numbers: Vec<NameId>,
    out: Analyzed,
    tasks: Vec<Task>,
    results: Vec<ExprId>,
    patterns: Vec<Pattern>,
    clauses: Vec<Clause>,
    cases: Vec<Vec<Literal>>,
    frames: Vec<Frame>,
    scope: Scope,
    defs: Defs,
    /// The function around the place.
    function: Option<FunctionId>,
    /// The `#(…)` around the place.
    short: Option<Short>,
    /// The function form that a definition gives a name, and the name.
    defined_as: Option<(FormId, SymbolId)>,
    /// The number of `try` around the place.
    tries: u32,
    /// Which names are in [`Analyzed::unbound`], [`Analyzed::tools`] and [`Analyzed::defined`].
    listed: Vec<u8>,
}

impl<'t> Analyzer<'t> {
    /// Does all tasks.
    fn work(&mut self, patience: &mut Patience) -> Result<(), Problem> {
        while let Some(task) = self.tasks.pop() {
            patience.step()?;
            match task {
                Task::Form(form, place) => self.form(form, place)?,
                Task::Nil(at) => self.constant(Literal::Nil, at),
                Task::Local(local, at) => self.result(Expr::Local(local), at),
                Task::Builtin(builtin, at) => self.result(Expr::Builtin(builtin), at),
                Task::Build(build, at) => self.build(build, at),
                Task::Bind(pattern) => self.bind(pattern)?,
                Task::BindLocal(local) => {
                    self.patterns.push(Pattern::Local(local));
                    self.put_aside();
                }
                Task::Open => self.open_frame(),
                Task::EndScope(counts) => self.end_scope(counts),
                Task::EndDef(definition) => self.end_definition(definition),
                Task::EndFunction(function, at) => self.end_function(function, at),
                Task::EndTry(at) => self.end_try(at),
                Task::Each => self.each(),
                Task::Test(is_while) => self.test(is_while),
                Task::LetClause(bindings) => self.let_clause(bindings),
            }
        }
        Ok(())
    }

    /// Begins the analysis of a form.
    #[inline]
    fn form(&mut self, id: FormId, place: Place) -> Result<(), Problem> {
        match self.forms.form(id) {
            Form::Symbol(name) => self.symbol(name, id, place),
            Form::List(items) => self.list(items, id, place),
            Form::Vector(items) => {
                self.vector(items, id);
                Ok(())
            }
            Form::Map(items) => self.map(items, id),
            Form::Set(items) => self.set(items, id),
            Form::Short(items) => self.short(items, id),
            Form::Bound(local) => {
                self.result(Expr::Local(local), id);
                Ok(())
            }
            Form::Plain(name) => self.symbol(name, id, place),
            Form::History(number) => {
                self.result(Expr::History(u32::from(number)), id);
                Ok(())
            }
            form => {
                if let Some(literal) = self.literal(form) {
                    self.constant(literal, id);
                }
                if matches!(form, Form::Regex(_)) && self.unit == 0 {
                    self.out.regexes.extend(self.results.last());
                }
                Ok(())
            }
        }
    }

    /// Pushes the task of a form.
    #[inline]
    fn push(&mut self, form: FormId, place: Place) {
        self.tasks.push(Task::Form(form, place));
    }

    /// Pushes the tasks of several forms, so that the first one is done first.
    #[inline]
    fn push_all(&mut self, items: Items, place: Place) {
        for form in self.forms.children(items).iter().rev() {
            self.tasks.push(Task::Form(*form, place));
        }
    }

    /// Pushes the tasks of a body: its value is that of its last form.
    fn body(&mut self, items: Items, at: FormId, place: Place) {
        let Some(last) = items.len.checked_sub(1) else {
            self.tasks.push(Task::Nil(at));
            return;
        };
        let last = self.forms.child(items, last);
        if items.len == 1 {
            return self.push(last, place.last());
        }
        if !place.counts() {
            self.tasks.push(Task::EndScope(false));
        }
        self.tasks.push(Task::Build(task::Build::Do(items.len), at));
        self.push(last, place.branch().and(Place::COUNTS));
        self.push_all(items.take(items.len - 1), Place::COUNTS);
        if !place.counts() {
            self.tasks.push(Task::Open);
        }
    }

    /// Begins a frame, and pushes the task that ends it.
    fn open(&mut self, counts: bool) {
        self.open_frame();
        self.tasks.push(Task::EndScope(counts));
    }

    fn open_frame(&mut self) {
        self.frames.push(Frame {
            scope: self.scope.mark(),
            defs: self.defs.mark(),
        });
    }

    fn end_scope(&mut self, counts: bool) {
        if let Some(frame) = self.frames.pop() {
            self.scope.leave(frame.scope);
            match counts {
                true => self.defs.take_back(frame.defs),
                false => self.defs.forget(frame.defs),
            }
        }
    }

    /// Binds a pattern to the last value, in the last frame.
    fn bind(&mut self, form: FormId) -> Result<(), Problem> {
        let pattern = self.pattern(form)?;
        self.patterns.push(pattern);
        self.put_aside();
        Ok(())
    }

    fn put_aside(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.defs.put_aside(frame.defs);
        }
    }

    /// Adds an expression that stands where a form stands, and puts it on the stack of results.
    #[inline]
    fn result(&mut self, expr: Expr, at: FormId) {
        let id = self.expr(expr, at);
        self.results.push(id);
    }

    /// Adds an expression that stands where a form stands.
    #[inline]
    fn expr(&mut self, expr: Expr, at: FormId) -> ExprId {
        self.out.exprs.push(expr);
        self.out.spans.push(self.forms.span(at));
        (self.out.exprs.len() - 1) as ExprId
    }

    fn constant(&mut self, literal: Literal, at: FormId) {
        self.result(Expr::Const(literal), at);
    }

    /// Adds a local of this function.
    fn local(&mut self, name: &str) -> LocalId {
        self.out.locals.push(Local {
            name: name.to_string(),
            function: self.function,
        });
        (self.out.locals.len() - 1) as LocalId
    }

    /// Adds a local without a name.
    fn nameless(&mut self) -> LocalId {
        self.local("a value")
    }

    /// Adds a local with a name, and binds it.
    fn bind_name(&mut self, name: SymbolId) -> LocalId {
        let local = self.local(self.names.text(name));
        self.scope.bind(name, local);
        local
    }

    /// Returns what a name means where nothing is bound to it.
    #[inline]
    fn meaning(&mut self, name: SymbolId) -> Meaning {
        if let Some(Some(meaning)) = self.meanings.get(name as usize) {
            return *meaning;
        }
        let meaning = Meaning::of(self.names.text(name));
        if self.meanings.len() <= name as usize {
            self.meanings.resize(name as usize + 1, None);
        }
        self.meanings[name as usize] = Some(meaning);
        meaning
    }

    /// Returns the number that a name has in the result.
    fn number(&mut self, name: SymbolId) -> NameId {
        let index = name as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, NO_NAME);
        }
        if self.numbers[index] == NO_NAME {
            self.numbers[index] = self.out.names.len() as NameId;
            self.out.names.push(self.names.text(name).to_string());
            self.listed.push(0);
        }
        self.numbers[index]
    }

    /// Returns whether a name of the result is put into this list for the first time. Only the program itself has lists.
    fn is_new(&mut self, number: NameId, list: u8) -> bool {
        let listed = &mut self.listed[number as usize];
        let new = *listed & list == 0;
        *listed |= list;
        new && self.unit == 0
    }
}
