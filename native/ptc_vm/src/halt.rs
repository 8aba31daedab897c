//! Why a run stops before its end.

use ptc_term::stop::Stop;
use std::borrow::Cow;

/// What can fail: an operation, or a function of a language. Its name is a part of the language.
pub type Name = &'static str;

/// An error in a program, for readers that do not know its language.
#[derive(Debug, Clone, PartialEq)]
pub struct Report<T> {
    /// The kind of error.
    pub code: &'static str,
    /// What failed, if that has a name.
    pub name: Option<Cow<'static, str>>,
    /// What the error is about, if the language says it.
    pub field: Option<Cow<'static, str>>,
    /// The offending terms.
    pub terms: Vec<T>,
    /// Whether the terms share so many parts that inspecting them must be limited.
    pub expensive_to_inspect: bool,
    /// The form in whose workers it has happened, if the language says it.
    pub inside: Option<Name>,
    /// The addresses of the instruction that has failed and of the calls around it, the innermost first. Empty if the language tells no
    /// places.
    pub at: Vec<u32>,
}

impl<T> Report<T> {
    /// Takes the terms out.
    pub fn split(self) -> (Report<()>, Vec<T>) {
        let report = Report {
            code: self.code,
            name: self.name,
            field: self.field,
            terms: Vec::new(),
            expensive_to_inspect: self.expensive_to_inspect,
            inside: self.inside,
            at: self.at,
        };
        (report, self.terms)
    }

    /// Returns the same error with these terms.
    pub fn with_terms<U>(self, terms: Vec<U>) -> Report<U> {
        Report {
            code: self.code,
            name: self.name,
            field: self.field,
            terms,
            expensive_to_inspect: self.expensive_to_inspect,
            inside: self.inside,
            at: self.at,
        }
    }
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt<F> {
    /// An error in the program, as its language describes it.
    Fault(Box<F>),
    /// A limit; after [`Stop::SliceOver`] the run resumes at the same instruction.
    Stop(Stop),
}

impl<F> Halt<F> {
    /// Returns the end of a run with an error.
    #[cold]
    pub fn fault(fault: F) -> Self {
        Halt::Fault(Box::new(fault))
    }
}

impl<F> From<Stop> for Halt<F> {
    #[inline]
    fn from(stop: Stop) -> Self {
        Halt::Stop(stop)
    }
}
