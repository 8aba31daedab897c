//! Operands that an algorithm cannot work with, and why an algorithm has no result.

use ptc_term::heap::Heap;
use ptc_term::stop::Stop;

/// What is wrong with an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is no proper list.
    NotAList,
    /// It is no map.
    NotAMap,
    /// It is no number.
    NotANumber,
    /// The result is a float that is not finite.
    BadArith,
    /// A decimal and a float meet in one computation.
    DecimalAndFloat,
    /// It is a decimal that is not finite.
    NotFinite,
    /// The decimal has too many digits.
    TooLong,
}

/// An operand that an algorithm cannot work with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrong<T> {
    /// What is wrong.
    pub why: Why,
    /// The offending term, if there is one.
    pub term: Option<T>,
}

impl<T> Wrong<T> {
    /// Returns what is wrong with a term.
    pub fn of(why: Why, term: T) -> Self {
        let term = Some(term);
        Wrong { why, term }
    }

    /// Returns what is wrong with a result.
    pub fn result(why: Why) -> Self {
        Wrong { why, term: None }
    }
}

/// Why an algorithm has no result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Early<T> {
    /// A limit; after [`Stop::SliceOver`] the algorithm goes on later with its state.
    Stop(Stop),
    /// An operand, or a result.
    Wrong(Wrong<T>),
    /// A result that two terms have.
    OfBoth(Why, [T; 2]),
}

/// The value of an algorithm.
pub type Worked<H> = Result<<H as Heap>::Term, Early<<H as Heap>::Term>>;

impl<T> From<Stop> for Early<T> {
    #[inline]
    fn from(stop: Stop) -> Self {
        Early::Stop(stop)
    }
}

impl<T> From<Wrong<T>> for Early<T> {
    #[cold]
    fn from(wrong: Wrong<T>) -> Self {
        Early::Wrong(wrong)
    }
}
