//! Errors as data: a code, the operation and field it is about, and the offending terms.

use crate::named::named;
use crate::opcode::OpCode;

named! {
    /// What a checked program or a run can end with; the text is made by whoever shows it.
    ///
    /// The codes. Those of the check come first, then those of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Code {
        /// `5` where an operation should stand. Terms: the part.
        NodeNotAMap = "node_not_a_map",
        /// `{"op": null}`
        MissingOp = "missing_op",
        /// `{"op": "flter"}`. Terms: the name.
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
        /// `{"op": "sort_by", "field": "a", "order": "up"}`. Terms: the order.
        UnknownOrder = "unknown_order",
        /// `{"op": "get", "field": "a", "path": ["a"]}`
        FieldAndPath = "field_and_path",
        /// `{"op": "get"}`
        NeitherFieldNorPath = "neither_field_nor_path",
        /// `{"op": "gt", "feild": "x", "value": 1}`: the field is the one that was meant, if one is
        /// close. Terms: the name.
        UnknownField = "unknown_field",
        /// More operations inside one another than the limit allows. Terms: the limit.
        TooDeep = "too_deep",

        /// `{"op": "count"}` with nothing to count.
        NoInput = "no_input",
        /// `count` of what is no list. Terms: the value.
        NeedsList = "needs_list",
        /// `keys` of what is no map. Terms: the value.
        NeedsMap = "needs_map",
        /// `sum` over an item that is no map. Terms: the item.
        NeedsListOfMaps = "needs_list_of_maps",
        /// `sum` over a value that is no number. Terms: the value.
        NeedsNumbers = "needs_numbers",
        /// `merge` with a value that is no map. Terms: the value.
        NeedsMapValues = "needs_map_values",
        /// `zip` with a value that is no list. Terms: the value.
        NeedsListValues = "needs_list_values",
        /// `add` of what is no number. Terms: left and right.
        NeedsNumericOperands = "needs_numeric_operands",
        /// `div` by zero.
        DivisionByZero = "division_by_zero",
        /// `round` of what is no number, or to what is no integer. Terms: value and precision.
        NeedsValueAndPrecision = "needs_value_and_precision",
        /// `round` to 16 places. Terms: the precision.
        PrecisionOutOfRange = "precision_out_of_range",
        /// A result no double can hold.
        BadArith = "bad_arith",
        /// `get` through what is no map. Terms: the value in the way.
        PathThroughNonMap = "path_through_non_map",
        /// `typeof` of a tuple. Terms: the value.
        NoTypeName = "no_type_name",
        /// `load` of a name that the context does not have, in a strict program. Terms: the name,
        /// the first names that there are, how many there are.
        UnknownName = "unknown_name",
        /// `load` with a name that is no string, in a part that was never checked. Terms: the name.
        ContextKey = "context_key",
        /// The same for `var`.
        MemoryKey = "memory_key",
        /// The same for `let`.
        LetName = "let_name",
        /// The same for the number of `nth`, `take`, `drop`. Terms: the number.
        NotACount = "not_a_count",
        /// The same for a field that must be a list. Terms: the value.
        UncheckedNotList = "unchecked_not_list",
        /// The same for a field that must be a map. Terms: the value.
        UncheckedNotMap = "unchecked_not_map",
    }
}

/// An error with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault<T> {
    /// What happened.
    pub code: Code,
    /// The operation, where there is one.
    pub op: Option<OpCode>,
    /// The field, where it is about one.
    pub field: Option<&'static str>,
    /// The offending terms, as [`Code`] lists them.
    pub terms: Vec<T>,
    /// Whether the terms use parts of theirs so often that showing them is work to be limited.
    pub expensive_to_inspect: bool,
}

impl<T> Fault<T> {
    /// An error that is about no field.
    pub fn new(code: Code, op: Option<OpCode>, terms: Vec<T>) -> Self {
        Fault {
            code,
            op,
            field: None,
            terms,
            expensive_to_inspect: false,
        }
    }

    /// The same error about a field.
    pub fn about(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// The same error about other handles of the same terms.
    pub fn map<U>(self, term: impl FnMut(T) -> U) -> Fault<U> {
        Fault {
            code: self.code,
            op: self.op,
            field: self.field,
            terms: self.terms.into_iter().map(term).collect(),
            expensive_to_inspect: self.expensive_to_inspect,
        }
    }
}

/// Why a run stopped before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt<T> {
    /// The program is at fault.
    Fault(Box<Fault<T>>),
    /// This slice is used up: go on in another one, from the same instruction.
    SliceOver,
    /// The deadline has passed.
    DeadlinePassed,
    /// More words built than allowed.
    MemoryExceeded,
    /// Nobody waits for the answer.
    Abandoned,
}

impl<T> From<Fault<T>> for Halt<T> {
    fn from(fault: Fault<T>) -> Self {
        Halt::Fault(Box::new(fault))
    }
}
