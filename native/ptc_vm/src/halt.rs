//! Why a run stops before its end.

use ptc_term::stop::Stop;

/// What can fail: an operation, or a function of a language. Its name is a part of the language.
pub type Name = &'static str;

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
