//! Symbols as values.

use super::meaning::Meaning;
use super::namespaces::{self, QualifiedName};
use super::problems::{parts, ARITY, FORM};
use super::special::Special;
use super::task::Place;
use super::Analyzer;
use crate::ast::{Expr, NameId, Problem};
use crate::read::{FormId, SymbolId};
use crate::table::ROWS;

/// [`crate::ast::Analyzed::unbound`] has the name.
const UNBOUND: u8 = 1;
/// [`crate::ast::Analyzed::tools`] has it.
const TOOL: u8 = 2;
/// [`crate::ast::Analyzed::defined`] has it.
const DEFINED: u8 = 4;

impl<'t> Analyzer<'t> {
    /// Analyzes a symbol that stands as a value.
    #[inline]
    pub(super) fn symbol(
        &mut self,
        name: SymbolId,
        at: FormId,
        place: Place,
    ) -> Result<(), Problem> {
        if let Some(local) = self.scope.local(name) {
            self.result(Expr::Local(local), at);
            return Ok(());
        }
        self.free_symbol(name, at, place)
    }

    fn free_symbol(&mut self, name: SymbolId, at: FormId, place: Place) -> Result<(), Problem> {
        let meaning = self.meaning(name);
        let expr = match meaning {
            Meaning::Builtin(_) => self.global(name, false),
            Meaning::Placeholder(number) => {
                let local = self.placeholder(number, name, at)?;
                Expr::Local(local)
            }
            Meaning::Qualified(slash) => self.qualified(name, slash, at)?,
            _ if self.defs.is_visible(name) => self.global(name, place.is_of_or()),
            Meaning::Method | Meaning::Special(Special::Dot) => {
                return Err(self.unknown_method(name, at))
            }
            Meaning::Constant(constant) => Expr::Const(constant.literal()),
            _ if place.is_of_or() => self.global(name, true),
            _ => {
                let number = self.number(name);
                if self.is_new(number, UNBOUND) {
                    self.out.unbound.push(number);
                }
                self.global(name, false)
            }
        };
        self.result(expr, at);
        Ok(())
    }

    fn global(&mut self, name: SymbolId, or_nil: bool) -> Expr {
        Expr::Global {
            name: self.number(name),
            or_nil,
        }
    }

    /// Notes that the program defines a name.
    pub(super) fn defines(&mut self, number: NameId) {
        if self.is_new(number, DEFINED) {
            self.out.defined.push(number);
        }
    }

    /// Returns the number of a name of a tool, and notes that the program names it.
    pub(super) fn tool(&mut self, name: &'t str) -> NameId {
        let name = self.names.intern(name);
        let number = self.number(name);
        if self.is_new(number, TOOL) {
            self.out.tools.push(number);
        }
        number
    }

    /// Returns what `ns/name` means as a value.
    fn qualified(&mut self, name: SymbolId, slash: u32, at: FormId) -> Result<Expr, Problem> {
        let (space, rest) = self.halves(name, slash);
        match space {
            "data" => {
                let key = self.names.intern(rest);
                Ok(Expr::Data(self.number(key)))
            }
            "tool" => Ok(Expr::Tool(self.tool(rest))),
            "budget" if rest == "remaining" => Ok(Expr::Budget),
            "budget" => Err(self.problem(FORM, "unknown_budget", parts![rest], at)),
            _ => match namespaces::find(space, rest) {
                QualifiedName::Builtin(builtin) => Ok(Expr::Builtin(builtin)),
                QualifiedName::Constant(constant) => Ok(Expr::Const(constant.literal())),
                QualifiedName::Missing(Some(family)) => {
                    let parts = parts![self.names.text(name), space, family.join(", ")];
                    Err(self.problem(FORM, "unknown_in_namespace", parts, at))
                }
                QualifiedName::Missing(None) => {
                    let parts = parts![self.names.text(name), space, rest];
                    Err(self.problem(FORM, "unknown_in_core", parts, at))
                }
                QualifiedName::NoNamespace => {
                    let known = namespaces::all().collect::<Vec<_>>().join(", ");
                    let parts = parts![self.names.text(name), space, known];
                    Err(self.problem(FORM, "unknown_namespace", parts, at))
                }
            },
        }
    }

    /// Splits a qualified name at its slash.
    pub(super) fn halves(&self, name: SymbolId, slash: u32) -> (&'t str, &'t str) {
        let text = self.names.text(name);
        (&text[..slash as usize], &text[slash as usize + 1..])
    }

    fn unknown_method(&self, name: SymbolId, at: FormId) -> Problem {
        let methods = ROWS.iter().map(|row| row.name);
        let methods: Vec<&str> = methods.filter(|name| name.starts_with('.')).collect();
        let parts = parts![self.names.text(name), methods.join(", ")];
        self.problem("unsupported_method", "method", parts, at)
    }

    /// Makes the problem of `budget/remaining` with arguments.
    pub(super) fn budget_arguments(&self, at: FormId) -> Problem {
        self.problem(ARITY, "budget_arguments", Vec::new(), at)
    }
}
