//! Functions of the memory, which are analyzed with the program.

use super::task::Place;
use super::{problems, Added, Analyzer};
use crate::ast::{Expr, ExprId, Function, FunctionId, Literal, Problem, Span};
use crate::patience::Patience;
use crate::read;

impl<'t> Analyzer<'t> {
    /// Analyzes a function that the memory has.
    pub(super) fn add(
        &mut self,
        unit: u32,
        added: &Added<'t>,
        patience: &mut Patience,
    ) -> Result<(), Problem> {
        let counts = (
            self.out.functions.len(),
            self.out.locals.len(),
            self.out.exprs.len(),
        );
        let function = match self.added(unit, added, patience) {
            Ok(function) => function,
            Err(problem) if problem.is_out_of_time() => return Err(problem),
            Err(_) => {
                self.out.functions.truncate(counts.0);
                self.out.locals.truncate(counts.1);
                self.out.exprs.truncate(counts.2);
                self.out.spans.truncate(counts.2);
                self.without_code(unit, added)
            }
        };
        self.out.added.push(function);
        Ok(())
    }

    /// Analyzes the text of a function whose captured names are locals.
    fn added(
        &mut self,
        unit: u32,
        added: &Added<'t>,
        patience: &mut Patience,
    ) -> Result<FunctionId, Problem> {
        self.source = added.source;
        self.unit = unit;
        self.tasks.clear();
        self.results.clear();
        self.patterns.clear();
        self.clauses.clear();
        self.cases.clear();
        self.function = None;
        self.short = None;
        self.tries = 0;
        if let Some(first) = self.frames.first().copied() {
            self.scope.leave(first.scope);
            self.defs.forget(first.defs);
            self.frames.clear();
        }
        let forms = read::read(added.source, &mut self.forms, &mut self.names, patience)?;
        self.read_forms = self.forms.len();
        self.open(false);
        for name in added.captured {
            let name = self.names.intern(name);
            self.bind_name(name);
        }
        let number = self.out.functions.len();
        match forms.as_slice() {
            [form] => self.push(*form, Place::OPERAND),
            _ => return Err(problems::no_function()),
        }
        self.work(patience)?;
        match self.out.functions.get(number) {
            Some(_) => Ok(number as FunctionId),
            None => Err(problems::no_function()),
        }
    }

    /// Adds a function whose body is nil.
    fn without_code(&mut self, unit: u32, added: &Added) -> FunctionId {
        let span = Span {
            start: 0,
            end: added.source.len() as u32,
        };
        let body = self.out.exprs.len() as ExprId;
        self.out.exprs.push(Expr::Const(Literal::Nil));
        self.out.spans.push(span);
        self.out.functions.push(Function {
            own: None,
            name: None,
            params: Vec::new(),
            rest: None,
            printed: Vec::new(),
            body,
            doc: None,
            source: span,
            threaded: None,
            unit,
            parent: None,
        });
        (self.out.functions.len() - 1) as FunctionId
    }
}
