//! The analysis: from forms to expressions.

use crate::ast::{Analyzed, Problem};

/// A source that is analyzed with the program: that of a function which the memory has, with the names that it has captured.
pub struct Added<'a> {
    /// Its text: one `(fn …)`, `#(…)` or `(defn …)`.
    pub source: &'a str,
    /// The names of what it has captured: locals around it, in this order.
    pub captured: &'a [String],
}

/// Reads and analyzes a program, and the functions that are added to it. Errors of these are not errors of the program: such a
/// function is one without code, whose body is nil.
pub fn analyze(_source: &str, _added: &[Added]) -> Result<Analyzed, Problem> {
    Ok(Analyzed::default())
}
