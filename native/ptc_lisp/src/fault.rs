//! Errors of programs, as codes and terms. The Elixir side has their reasons and words.

use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::Report;
use std::borrow::Cow;

/// An error.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault<T> {
    /// Which error it is.
    pub code: &'static str,
    /// The function, as the program writes it, or the name that the error is about.
    pub name: Option<Cow<'static, str>>,
    /// A detail: what was expected, or which argument it is.
    pub detail: Option<Cow<'static, str>>,
    /// The offending terms.
    pub terms: Vec<T>,
    /// Whether inspecting them must be limited.
    pub expensive: bool,
    /// The parallel form in one of whose workers it has happened.
    pub inside: Option<&'static str>,
}

impl<T> Rooted for Fault<T> {
    type Term = T;
    type With<U> = Fault<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Fault<X::Into>, X::Lost> {
        Ok(Fault {
            code: self.code,
            name: self.name,
            detail: self.detail,
            terms: by.all(self.terms)?,
            expensive: self.expensive,
            inside: self.inside,
        })
    }
}

impl<T> Fault<T> {
    /// An error of a function, or about a name.
    pub fn of(code: &'static str, name: impl Into<Cow<'static, str>>, terms: Vec<T>) -> Self {
        Fault {
            code,
            name: Some(name.into()),
            detail: None,
            terms,
            expensive: false,
            inside: None,
        }
    }

    /// Returns the error with a detail.
    pub fn with(self, detail: impl Into<Cow<'static, str>>) -> Self {
        Fault {
            detail: Some(detail.into()),
            ..self
        }
    }

    /// Returns the error as every language reports one.
    pub fn report(self) -> Report<T> {
        Report {
            code: self.code,
            name: self.name,
            field: self.detail,
            terms: self.terms,
            expensive_to_inspect: self.expensive,
            inside: self.inside,
            at: Vec::new(),
        }
    }
}
