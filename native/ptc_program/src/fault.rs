//! Errors as data: a code, the operation and field concerned, and the offending terms.

use crate::code::{Eval, Halt, Machine};
use ptc_kernels::Why;
use ptc_term::heap::Heap;
use ptc_term::named::named;
use ptc_term::number::Number;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_term::value::{Exact, TooLong};
use ptc_vm::Name;

named! {
    /// The error codes of the check and of a run; other modules make the messages.
    ///
    /// The codes of the check come first, then those of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Code {
        /// `5` instead of an operation. Terms: the part.
        NodeNotAMap = "node_not_a_map",
        /// `{"op": null}`
        MissingOp = "missing_op",
        /// `{"op": "flter"}`. Terms: the name, and the edition unless it is the first.
        UnknownOp = "unknown_op",
        /// `{"op": "load"}` without `name`.
        FieldMissing = "field_missing",
        /// `{"op": "load", "name": 1}`
        FieldNotString = "field_not_string",
        /// `{"op": "pipe", "steps": 1}`
        FieldNotList = "field_not_list",
        /// `{"op": "call", "tool": "t", "args": 1}`
        FieldNotMap = "field_not_map",
        /// `{"op": "nth", "index": 1.5}`
        FieldNotInteger = "field_not_integer",
        /// `{"op": "nth", "index": -1}`. Terms: the integer.
        FieldNegative = "field_negative",
        /// `{"op": "select", "fields": [1]}` and the same for `path`.
        FieldNotStrings = "field_not_strings",
        /// An element of a path is no string and no integer.
        FieldNotKeys = "field_not_keys",
        /// `{"op": "sort_by", "field": "a", "order": "up"}`. Terms: the order.
        UnknownOrder = "unknown_order",
        /// `{"op": "get", "field": "a", "path": ["a"]}`
        FieldAndPath = "field_and_path",
        /// `{"op": "get"}`
        NeitherFieldNorPath = "neither_field_nor_path",
        /// `{"op": "gt", "feild": "x", "value": 1}`: the field is the one that was probably meant, if
        /// one is similar. Terms: the name, and the edition unless it is the first.
        UnknownField = "unknown_field",
        /// `{"op": "switch", "cases": [{"when": …, "then": …, "note": 1}]}` in a strict program: the field is that of the
        /// list. Terms: the name.
        UnknownPartField = "unknown_part_field",
        /// `{"op": "filter", "where": {"field": "x"}}` in a strict program: the condition is an object that
        /// names no operation. Terms: the condition.
        ConditionWithoutOp = "condition_without_op",
        /// `{"op": "sum", "field": "a", "expr": …}`: two forms of one operation. The field is the phrase that names them.
        Accepts = "accepts",
        /// `{"op": "chunk", "size": 0}`: a field whose value is none of those that it can have. The field is the phrase
        /// that names it and says what it must be. Terms: the value, if it is shown.
        FieldWrong = "field_wrong",
        /// A text that is no regular expression. The field is the reason.
        PatternWrong = "pattern_wrong",
        /// A mistake in a part of a field. The field is the whole sentence.
        PartWrong = "part_wrong",
        /// The nesting of operations exceeds the limit. Terms: the limit.
        TooDeep = "too_deep",

        /// `{"op": "count"}` without a current value.
        NoInput = "no_input",
        /// `count` of a value that is not a list. Terms: the value.
        NeedsList = "needs_list",
        /// `keys` of a value that is not a map. Terms: the value.
        NeedsMap = "needs_map",
        /// `sum` over an item that is not a map. Terms: the item.
        NeedsListOfMaps = "needs_list_of_maps",
        /// `sum` over a value that is not a number. Terms: the value.
        NeedsNumbers = "needs_numbers",
        /// `merge` with a value that is not a map. Terms: the value.
        NeedsMapValues = "needs_map_values",
        /// `zip` with a value that is not a list. Terms: the value.
        NeedsListValues = "needs_list_values",
        /// `add` of a value that is not a number. Terms: left and right.
        NeedsNumericOperands = "needs_numeric_operands",
        /// `div` by zero.
        DivisionByZero = "division_by_zero",
        /// `round` of a value that is not a number, or to a precision that is not an integer. Terms:
        /// value and precision.
        NeedsValueAndPrecision = "needs_value_and_precision",
        /// `to_text` with `decimals` of a value that is not a number. Terms: the value.
        NeedsNumberForDecimals = "needs_number_for_decimals",
        /// `round` to 16 decimals. Terms: the precision.
        PrecisionOutOfRange = "precision_out_of_range",
        /// A result that no double can represent.
        BadArith = "bad_arith",
        /// A decimal and a float in one computation. Terms: both operands, or the one that has met the other kind.
        DecimalAndFloat = "decimal_and_float",
        /// `NaN` or an infinity. Terms: the decimal.
        DecimalNotFinite = "decimal_not_finite",
        /// A decimal with too many digits, or operands of one. Terms: the decimal, or the operands.
        DecimalTooLong = "decimal_too_long",
        /// `get` through a value that is not a map. Terms: the value.
        PathThroughNonMap = "path_through_non_map",
        /// `upper` of a number: a value that the operation cannot work with. The field is the phrase that says what it
        /// requires. Terms: the value, or none.
        Requires = "requires",
        /// `date_part` of a value that is no date, `date_add` that leads to none. Terms: the value, or both.
        NeedsDates = "needs_dates",
        /// `mod` or `range` of two values that it cannot work with. The field is the phrase that says what it requires. Terms: both.
        RequiresBoth = "requires_both",
        /// `typeof` of a tuple. Terms: the value.
        NoTypeName = "no_type_name",
        /// `load` of a name that the context does not have, in a strict program. Terms: the name, the
        /// first existing names, their number.
        UnknownName = "unknown_name",
        /// `load` with a name that is not a string, in an unchecked part. Terms: the name.
        ContextKey = "context_key",
        /// `var` with a name that is not a string, in an unchecked part. Terms: the name.
        MemoryKey = "memory_key",
        /// `let` with a name that is not a string, in an unchecked part. Terms: the name.
        LetName = "let_name",
        /// `nth`, `take` or `drop` with a number that is no count, in an unchecked part. Terms: the number.
        NotACount = "not_a_count",
        /// A field that must be a list and is none, in an unchecked part. Terms: the value.
        UncheckedNotList = "unchecked_not_list",
        /// A field that must be a map and is none, in an unchecked part. Terms: the value.
        UncheckedNotMap = "unchecked_not_map",
    }
}

/// An error with its details.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault<T> {
    /// The code.
    pub code: Code,
    /// What failed, if that has a name.
    pub name: Option<Name>,
    /// The field, if the error is about one.
    pub field: Option<&'static str>,
    /// The offending terms, as [`Code`] lists them.
    pub terms: Vec<T>,
    /// Whether the terms share so many parts that inspecting them must be limited.
    pub expensive_to_inspect: bool,
}

impl<T> Fault<T> {
    /// Creates an error that is not about a field.
    pub fn new(code: Code, name: Option<Name>, terms: Vec<T>) -> Self {
        Fault {
            code,
            name,
            field: None,
            terms,
            expensive_to_inspect: false,
        }
    }

    /// Returns the same error about a field.
    pub fn about(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// Returns the same error with other handles of the terms.
    pub fn map<U>(mut self, term: impl FnMut(T) -> U) -> Fault<U> {
        let terms = std::mem::take(&mut self.terms);
        self.with_terms(terms.into_iter().map(term).collect())
    }

    /// Returns the same error with these terms.
    pub fn with_terms<U>(self, terms: Vec<U>) -> Fault<U> {
        Fault {
            code: self.code,
            name: self.name,
            field: self.field,
            terms,
            expensive_to_inspect: self.expensive_to_inspect,
        }
    }
}

impl<T> Rooted for Fault<T> {
    type Term = T;
    type With<U> = Fault<U>;

    fn exchange<X: Exchange<T>>(mut self, by: &mut X) -> Result<Fault<X::Into>, X::Lost> {
        let terms = by.all(std::mem::take(&mut self.terms))?;
        Ok(self.with_terms(terms))
    }
}

impl<T> From<Fault<T>> for Halt<T> {
    #[cold]
    fn from(fault: Fault<T>) -> Self {
        Halt::fault(fault)
    }
}

impl Code {
    /// Returns the code for an operand that an algorithm cannot work with.
    pub(crate) fn of(why: Why) -> Code {
        match why {
            Why::NotAList => Code::NeedsList,
            Why::NotAMap => Code::NeedsListOfMaps,
            Why::NotANumber => Code::NeedsNumbers,
            Why::BadArith => Code::BadArith,
            Why::DecimalAndFloat => Code::DecimalAndFloat,
            Why::NotFinite => Code::DecimalNotFinite,
            Why::TooLong => Code::DecimalTooLong,
        }
    }
}

/// The errors of evaluations, and what may fail with one.
pub(crate) trait Errors<H: Heap> {
    /// Builds a fault of an operation.
    fn fault(&self, name: impl Into<Name>, code: Code, terms: Vec<H::Term>) -> Halt<H::Term>;

    /// Builds a fault that is about a field, or that has a phrase in the place of one.
    fn fault_about(
        &self,
        name: impl Into<Name>,
        what: (Code, &'static str),
        terms: Vec<H::Term>,
    ) -> Halt<H::Term>;

    /// Makes a number; `badarith` for a float that is not finite.
    fn make_number(&mut self, name: impl Into<Name>, number: Number) -> Eval<H>;

    /// Makes a decimal, computed from these operands.
    fn make_exact(
        &mut self,
        name: impl Into<Name>,
        exact: Result<Exact, TooLong>,
        operands: Vec<H::Term>,
    ) -> Eval<H>;
}

impl<H: Heap> Errors<H> for Machine<'_, H> {
    #[cold]
    fn fault(&self, name: impl Into<Name>, code: Code, terms: Vec<H::Term>) -> Halt<H::Term> {
        Fault::new(code, Some(name.into()), terms).into()
    }

    #[cold]
    fn fault_about(
        &self,
        name: impl Into<Name>,
        (code, field): (Code, &'static str),
        terms: Vec<H::Term>,
    ) -> Halt<H::Term> {
        Fault::new(code, Some(name.into()), terms)
            .about(field)
            .into()
    }

    #[inline]
    fn make_number(&mut self, name: impl Into<Name>, number: Number) -> Eval<H> {
        match self.heap.make_number(number) {
            Some(term) => Ok(term),
            None => Err(self.fault(name, Code::BadArith, vec![])),
        }
    }

    fn make_exact(
        &mut self,
        name: impl Into<Name>,
        exact: Result<Exact, TooLong>,
        operands: Vec<H::Term>,
    ) -> Eval<H> {
        match self.make_decimal(exact)? {
            Ok(decimal) => Ok(decimal),
            Err(Why::TooLong) => Err(self.fault(name, Code::DecimalTooLong, operands)),
            Err(why) => Err(self.fault(name, Code::of(why), vec![])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use ptc_term::named::Named;
    use std::collections::HashSet;

    #[test]
    fn no_two_codes_have_one_name() {
        let names: HashSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
