//! Expressions of the last results.

use super::task::Build;
use super::Analyzer;
use crate::ast::{Clause, Expr, ExprId, Pattern};
use crate::read::FormId;

impl Analyzer<'_> {
    /// Builds an expression of the last results, which it replaces.
    pub(super) fn build(&mut self, build: Build, at: FormId) {
        let expr = match build {
            Build::Call(count) => {
                let args = self.last(count);
                Expr::Call(self.one(), args)
            }
            Build::Vector(count) => Expr::Vector(self.last(count)),
            Build::Map(pairs) => self.map_of(pairs),
            Build::Set(count) => Expr::Set(self.last(count)),
            Build::If => {
                let (test, then, other) = self.three();
                Expr::If(test, then, other)
            }
            Build::IfNil => {
                let (test, then, other) = self.three();
                Expr::IfNil(test, then, other)
            }
            Build::IfSome => {
                let (test, other, then) = self.three();
                Expr::IfNil(test, then, other)
            }
            Build::Cond(clauses) => return self.cond_of(clauses, at),
            Build::Case(clauses, has_default) => {
                let default = has_default.then(|| self.one());
                let results = self.last(clauses);
                let first = self.cases.len() - results.len();
                let values = self.cases.drain(first..);
                let clauses = values.zip(results).collect();
                Expr::Case {
                    subject: self.one(),
                    clauses,
                    default,
                }
            }
            Build::Do(count) => Expr::Do(self.last(count)),
            Build::And(count) => Expr::And(self.last(count)),
            Build::Or(count) => Expr::Or(self.last(count)),
            Build::Let(bindings) => {
                let body = self.one();
                match bindings {
                    0 => {
                        self.results.push(body);
                        return;
                    }
                    _ => Expr::Let(self.bound(bindings), body),
                }
            }
            Build::Loop(bindings) => {
                let body = self.one();
                Expr::Loop(self.bound(bindings), body)
            }
            Build::Recur(count) => Expr::Recur(self.last(count)),
            Build::Return => Expr::Return(self.one()),
            Build::Fail => Expr::Fail(self.one()),
            Build::Juxt(count) => Expr::Juxt(self.last(count)),
            Build::Apply(count) => {
                let args = self.last(count);
                Expr::Apply(self.one(), args)
            }
            Build::Pmap(count) => {
                let args = self.last(count);
                Expr::Pmap(self.one(), args)
            }
            Build::Pcalls(count) => Expr::Pcalls(self.last(count)),
            Build::Tool(name, has_argument) => {
                let argument = has_argument.then(|| self.one());
                Expr::CallTool(name, argument)
            }
            Build::NamedTool(name, pairs) => {
                let map = self.map_of(pairs);
                let map = self.expr(map, at);
                Expr::CallTool(name, Some(map))
            }
            Build::BadTool(name, count) => Expr::BadToolCall(name, self.last(count)),
            Build::For(clauses, collects) => {
                let first = self.clauses.len() - clauses as usize;
                Expr::For {
                    body: self.one(),
                    clauses: self.clauses.drain(first..).collect(),
                    collects,
                }
            }
        };
        self.result(expr, at);
    }

    /// Takes the last result. Each task that builds comes after the tasks of its operands.
    pub(super) fn one(&mut self) -> ExprId {
        self.results.pop().unwrap_or_default()
    }

    fn three(&mut self) -> (ExprId, ExprId, ExprId) {
        let last = self.one();
        let middle = self.one();
        (self.one(), middle, last)
    }

    /// Takes this many results.
    fn last(&mut self, count: u32) -> Vec<ExprId> {
        let first = self.results.len() - count as usize;
        self.results.drain(first..).collect()
    }

    /// Takes this many patterns and results.
    fn bound(&mut self, count: u32) -> Vec<(Pattern, ExprId)> {
        let first = self.patterns.len() - count as usize;
        let first_value = self.results.len() - count as usize;
        let patterns = self.patterns.drain(first..);
        patterns.zip(self.results.drain(first_value..)).collect()
    }

    fn map_of(&mut self, pairs: u32) -> Expr {
        let first = self.results.len() - 2 * pairs as usize;
        let (pairs, _) = self.results[first..].as_chunks::<2>();
        let pairs = pairs.iter().map(|[key, value]| (*key, *value)).collect();
        self.results.truncate(first);
        Expr::Map(pairs)
    }

    /// Builds tests in each other, the last one first.
    fn cond_of(&mut self, clauses: u32, at: FormId) {
        let mut other = self.one();
        for _ in 0..clauses {
            let then = self.one();
            let test = self.one();
            other = self.expr(Expr::If(test, then, other), at);
        }
        self.results.push(other);
    }

    /// Makes the last pattern and value a clause of `for`.
    pub(super) fn each(&mut self) {
        let coll = self.one();
        if let Some(pattern) = self.patterns.pop() {
            self.clauses.push(Clause::Each(pattern, coll));
        }
    }

    /// Makes the last value a `:while` or a `:when`.
    pub(super) fn test(&mut self, is_while: bool) {
        let test = self.one();
        self.clauses.push(match is_while {
            true => Clause::While(test),
            false => Clause::When(test),
        });
    }

    /// Makes the last patterns and values a `:let`.
    pub(super) fn let_clause(&mut self, bindings: u32) {
        let bound = self.bound(bindings);
        self.clauses.push(Clause::Let(bound));
    }
}
