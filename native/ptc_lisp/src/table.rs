//! The built-ins: one row for each, with its name, the arguments that it takes, and the family that evaluates it.
//!
//! The reader of the table is everything: analysis (which names exist), the compiler (how a call is made), checks of arguments,
//! errors, documentation and the prompt. A row says:
//!
//! * its name, as programs write it
//! * its [`Takes`], which decides how a wrong number of arguments and wrong arguments are reported
//! * the least and the most arguments
//! * the checks of its arguments, and whether the last check also holds for all further arguments
//! * its [`Family`]: who evaluates it

/// How a built-in takes its arguments (specification, section 14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A fixed number.
    N,
    /// One of several numbers.
    M,
    /// Any number; without arguments it has an identity.
    V,
    /// Any number, but at least one.
    W,
    /// It collects its arguments, and checks their number itself.
    C,
}

/// What an argument must be, before the built-in is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Anything.
    Any,
    /// `map`: a plain map or nil.
    Map,
    /// `associative`: a list, a plain map or nil.
    Associative,
    /// `map or list`: a plain map or a list.
    MapOrList,
    /// `seqable`: nil, a list, a string, a set or a plain map.
    Seqable,
    /// `callable`: a function of any kind, or a keyword.
    Callable,
    /// `predicate`: what can say yes or no of an item.
    Predicate,
    /// `keyfn`: a function, a keyword or a set.
    Keyfn,
    /// `sort keyfn`: a keyword, a path, a set, or a function.
    SortKeyfn,
    /// `integer`
    Integer,
}

/// Who evaluates a built-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// It calls functions that it is given: a frame of the machine.
    Calls,
    /// Sequences.
    Seqs,
    /// Maps.
    Maps,
    /// Sets.
    Sets,
    /// Arithmetic and bits.
    Numbers,
    /// Equality and order.
    Compare,
    /// Texts.
    Strings,
    /// What a value is.
    Predicates,
    /// Functions of functions.
    Functions,
    /// The caller of the run evaluates it: regular expressions, JSON, dates, formats; see
    /// [`needs_answer`](crate::families::needs_answer) for those that are only asked for with some arguments.
    Asked,
}

/// No most number of arguments.
pub const MANY: u32 = u32::MAX;

/// The row of a built-in.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The built-in.
    pub builtin: Builtin,
    /// Its name.
    pub name: &'static str,
    /// How it takes its arguments.
    pub takes: Takes,
    /// The least number of arguments.
    pub least: u32,
    /// The most arguments, or [`MANY`].
    pub most: u32,
    /// What its first arguments must be.
    pub checks: &'static [Check],
    /// Whether the last check holds for all further arguments.
    pub repeats: bool,
    /// Who evaluates it.
    pub family: Family,
}

macro_rules! table {
    ($($variant:ident = $name:literal, $takes:ident, $least:expr, $most:expr, [$($check:ident),*], $repeats:literal, $family:ident;)+) => {
        /// A built-in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Builtin {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        /// All rows, in the order of [`Builtin`].
        pub static ROWS: &[Row] = &[
            $(Row {
                builtin: Builtin::$variant,
                name: $name,
                takes: Takes::$takes,
                least: $least,
                most: $most,
                checks: &[$(Check::$check),*],
                repeats: $repeats,
                family: Family::$family,
            },)+
        ];
    };
}

table! {
    // Calls
    Map = "map", M, 2, MANY, [Keyfn, Seqable], true, Calls;
    Mapv = "mapv", M, 2, MANY, [Keyfn, Seqable], true, Calls;
    Filter = "filter", N, 2, 2, [Predicate, Seqable], false, Calls;
    Filterv = "filterv", N, 2, 2, [], false, Calls;
    Remove = "remove", N, 2, 2, [Predicate, Seqable], false, Calls;
    Keep = "keep", N, 2, 2, [Keyfn, Seqable], false, Calls;
    KeepIndexed = "keep-indexed", N, 2, 2, [], false, Calls;
    MapIndexed = "map-indexed", N, 2, 2, [], false, Calls;
    Mapcat = "mapcat", N, 2, 2, [Callable, Seqable], false, Calls;
    Some = "some", N, 2, 2, [], false, Calls;
    IsEvery = "every?", N, 2, 2, [], false, Calls;
    IsNotEvery = "not-every?", N, 2, 2, [], false, Calls;
    IsNotAny = "not-any?", N, 2, 2, [], false, Calls;
    TakeWhile = "take-while", N, 2, 2, [], false, Calls;
    DropWhile = "drop-while", N, 2, 2, [], false, Calls;
    SplitWith = "split-with", N, 2, 2, [], false, Calls;
    PartitionBy = "partition-by", N, 2, 2, [], false, Calls;
    Sort = "sort", M, 1, 2, [], false, Calls;
    SortBy = "sort-by", M, 2, 3, [SortKeyfn], false, Calls;
    GroupBy = "group-by", N, 2, 2, [], false, Calls;
    DistinctBy = "distinct-by", N, 2, 2, [], false, Calls;
    SumBy = "sum-by", N, 2, 2, [], false, Calls;
    AvgBy = "avg-by", N, 2, 2, [], false, Calls;
    MinBy = "min-by", C, 0, MANY, [], false, Calls;
    MaxBy = "max-by", C, 0, MANY, [], false, Calls;
    MinKey = "min-key", C, 0, MANY, [], false, Calls;
    MaxKey = "max-key", C, 0, MANY, [], false, Calls;
    Reduce = "reduce", M, 2, 3, [Callable, Any, Seqable], false, Calls;
    ReduceKv = "reduce-kv", N, 3, 3, [Callable, Any, Map], false, Calls;
    TreeSeq = "tree-seq", N, 3, 3, [], false, Calls;
    Walk = "walk", N, 3, 3, [], false, Calls;
    Prewalk = "prewalk", N, 2, 2, [], false, Calls;
    Postwalk = "postwalk", N, 2, 2, [], false, Calls;
    Update = "update", C, 0, MANY, [], false, Calls;
    UpdateIn = "update-in", C, 0, MANY, [], false, Calls;
    UpdateVals = "update-vals", N, 2, 2, [Map, Callable], false, Calls;
    UpdateKeys = "update-keys", N, 2, 2, [Map, Callable], false, Calls;
    MergeWith = "merge-with", C, 0, MANY, [], false, Calls;
    Pmap = "pmap", M, 2, MANY, [], false, Calls;
    Pcalls = "pcalls", C, 0, MANY, [], false, Calls;
    // Seqs
    Find = "find", N, 2, 2, [], false, Seqs;
    Take = "take", N, 2, 2, [Integer, Seqable], false, Seqs;
    Drop = "drop", N, 2, 2, [Integer, Seqable], false, Seqs;
    TakeLast = "take-last", N, 2, 2, [], false, Seqs;
    DropLast = "drop-last", M, 1, 2, [], false, Seqs;
    Nthrest = "nthrest", N, 2, 2, [], false, Seqs;
    Nthnext = "nthnext", N, 2, 2, [], false, Seqs;
    First = "first", N, 1, 1, [], false, Seqs;
    Second = "second", N, 1, 1, [], false, Seqs;
    Last = "last", N, 1, 1, [], false, Seqs;
    Nth = "nth", M, 2, 3, [], false, Seqs;
    Rest = "rest", N, 1, 1, [], false, Seqs;
    Next = "next", N, 1, 1, [], false, Seqs;
    Butlast = "butlast", N, 1, 1, [], false, Seqs;
    Ffirst = "ffirst", N, 1, 1, [], false, Seqs;
    Fnext = "fnext", N, 1, 1, [], false, Seqs;
    Nfirst = "nfirst", N, 1, 1, [], false, Seqs;
    Nnext = "nnext", N, 1, 1, [], false, Seqs;
    Peek = "peek", N, 1, 1, [], false, Seqs;
    Pop = "pop", N, 1, 1, [], false, Seqs;
    Subvec = "subvec", M, 2, 3, [], false, Seqs;
    Cons = "cons", N, 2, 2, [], false, Seqs;
    Conj = "conj", V, 0, MANY, [], false, Seqs;
    Concat = "concat", V, 0, MANY, [Seqable], true, Seqs;
    Into = "into", N, 2, 2, [Any, Seqable], false, Seqs;
    Empty = "empty", N, 1, 1, [], false, Seqs;
    IsEmpty = "empty?", N, 1, 1, [], false, Seqs;
    NotEmpty = "not-empty", N, 1, 1, [], false, Seqs;
    Seq = "seq", N, 1, 1, [], false, Seqs;
    Count = "count", N, 1, 1, [Seqable], false, Seqs;
    Reverse = "reverse", N, 1, 1, [], false, Seqs;
    Distinct = "distinct", N, 1, 1, [], false, Seqs;
    Flatten = "flatten", N, 1, 1, [], false, Seqs;
    Dedupe = "dedupe", N, 1, 1, [], false, Seqs;
    Partition = "partition", M, 2, 4, [], false, Seqs;
    PartitionAll = "partition-all", M, 2, 3, [], false, Seqs;
    SplitAt = "split-at", N, 2, 2, [], false, Seqs;
    Interleave = "interleave", C, 0, MANY, [], false, Seqs;
    Interpose = "interpose", N, 2, 2, [], false, Seqs;
    Zip = "zip", N, 2, 2, [], false, Seqs;
    Frequencies = "frequencies", N, 1, 1, [], false, Seqs;
    Sum = "sum", N, 1, 1, [], false, Seqs;
    Avg = "avg", N, 1, 1, [], false, Seqs;
    Range = "range", M, 1, 3, [], false, Seqs;
    Combinations = "combinations", N, 2, 2, [], false, Seqs;
    IsContains = "contains?", N, 2, 2, [], false, Seqs;
    Replace = "replace", M, 2, 3, [], false, Asked;
    Vec = "vec", N, 1, 1, [], false, Seqs;
    Vector = "vector", C, 0, MANY, [], false, Seqs;
    List = "list", C, 0, MANY, [], false, Seqs;
    // Maps
    Get = "get", M, 2, 3, [Associative], false, Maps;
    GetIn = "get-in", M, 2, 3, [Associative, Seqable], false, Maps;
    Assoc = "assoc", C, 0, MANY, [], false, Maps;
    AssocIn = "assoc-in", N, 3, 3, [], false, Maps;
    Dissoc = "dissoc", C, 0, MANY, [Map], false, Maps;
    Merge = "merge", C, 0, MANY, [], false, Maps;
    SelectKeys = "select-keys", N, 2, 2, [Map, Seqable], false, Maps;
    Keys = "keys", N, 1, 1, [Map], false, Maps;
    Vals = "vals", N, 1, 1, [Map], false, Maps;
    Entries = "entries", N, 1, 1, [], false, Maps;
    Key = "key", N, 1, 1, [], false, Maps;
    Val = "val", N, 1, 1, [], false, Maps;
    Zipmap = "zipmap", N, 2, 2, [Seqable, Seqable], false, Maps;
    HashMap = "hash-map", C, 0, MANY, [], false, Maps;
    ArrayMap = "array-map", C, 0, MANY, [], false, Maps;
    ExMessage = "ex-message", N, 1, 1, [], false, Maps;
    // Sets
    Set = "set", N, 1, 1, [], false, Sets;
    HashSet = "hash-set", C, 0, MANY, [], false, Sets;
    Union = "union", V, 0, MANY, [], false, Sets;
    Intersection = "intersection", W, 1, MANY, [], false, Sets;
    Difference = "difference", W, 1, MANY, [], false, Sets;
    Disj = "disj", W, 1, MANY, [], false, Sets;
    // Numbers
    Add = "+", V, 0, MANY, [], false, Numbers;
    Multiply = "*", V, 0, MANY, [], false, Numbers;
    Subtract = "-", W, 1, MANY, [], false, Numbers;
    Divide = "/", W, 1, MANY, [], false, Numbers;
    AddPrime = "+'", C, 0, MANY, [], false, Numbers;
    MultiplyPrime = "*'", C, 0, MANY, [], false, Numbers;
    SubtractPrime = "-'", C, 0, MANY, [], false, Numbers;
    Inc = "inc", N, 1, 1, [], false, Numbers;
    Dec = "dec", N, 1, 1, [], false, Numbers;
    IncPrime = "inc'", N, 1, 1, [], false, Numbers;
    DecPrime = "dec'", N, 1, 1, [], false, Numbers;
    Abs = "abs", N, 1, 1, [], false, Numbers;
    Mod = "mod", N, 2, 2, [], false, Numbers;
    Rem = "rem", N, 2, 2, [], false, Numbers;
    Quot = "quot", N, 2, 2, [], false, Numbers;
    Max = "max", W, 1, MANY, [], false, Numbers;
    Min = "min", W, 1, MANY, [], false, Numbers;
    Floor = "floor", N, 1, 1, [], false, Numbers;
    Ceil = "ceil", N, 1, 1, [], false, Numbers;
    Round = "round", N, 1, 1, [], false, Numbers;
    Trunc = "trunc", N, 1, 1, [], false, Numbers;
    Double = "double", N, 1, 1, [], false, Numbers;
    Float = "float", N, 1, 1, [], false, Numbers;
    Int = "int", N, 1, 1, [], false, Numbers;
    Sqrt = "sqrt", N, 1, 1, [], false, Numbers;
    Pow = "pow", N, 2, 2, [], false, Numbers;
    BitAnd = "bit-and", C, 0, MANY, [], false, Numbers;
    BitOr = "bit-or", C, 0, MANY, [], false, Numbers;
    BitXor = "bit-xor", C, 0, MANY, [], false, Numbers;
    BitAndNot = "bit-and-not", C, 0, MANY, [], false, Numbers;
    BitNot = "bit-not", N, 1, 1, [], false, Numbers;
    BitShiftLeft = "bit-shift-left", N, 2, 2, [], false, Numbers;
    BitShiftRight = "bit-shift-right", N, 2, 2, [], false, Numbers;
    BitClear = "bit-clear", N, 2, 2, [], false, Numbers;
    BitSet = "bit-set", N, 2, 2, [], false, Numbers;
    BitFlip = "bit-flip", N, 2, 2, [], false, Numbers;
    BitTest = "bit-test", N, 2, 2, [], false, Numbers;
    Equal = "=", C, 0, MANY, [], false, Compare;
    SameNumber = "==", C, 0, MANY, [], false, Compare;
    NotEqual = "not=", C, 0, MANY, [], false, Compare;
    Less = "<", C, 0, MANY, [], false, Compare;
    Greater = ">", C, 0, MANY, [], false, Compare;
    LessOrEqual = "<=", C, 0, MANY, [], false, Compare;
    GreaterOrEqual = ">=", C, 0, MANY, [], false, Compare;
    Compare = "compare", N, 2, 2, [], false, Compare;
    IsZero = "zero?", N, 1, 1, [], false, Numbers;
    IsPos = "pos?", N, 1, 1, [], false, Numbers;
    IsNeg = "neg?", N, 1, 1, [], false, Numbers;
    IsEven = "even?", N, 1, 1, [], false, Numbers;
    IsOdd = "odd?", N, 1, 1, [], false, Numbers;
    ParseLong = "parse-long", N, 1, 1, [], false, Numbers;
    ParseInt = "parse-int", N, 1, 1, [], false, Numbers;
    ParseDouble = "parse-double", N, 1, 1, [], false, Numbers;
    ParseBoolean = "parse-boolean", N, 1, 1, [], false, Numbers;
    // Strings
    Str = "str", C, 0, MANY, [], false, Strings;
    PrStr = "pr-str", C, 0, MANY, [], false, Strings;
    Println = "println", C, 0, MANY, [], false, Strings;
    Subs = "subs", M, 2, 3, [], false, Strings;
    Join = "join", M, 1, 2, [], false, Strings;
    Split = "split", N, 2, 2, [], false, Asked;
    SplitLines = "split-lines", N, 1, 1, [], false, Strings;
    Trim = "trim", N, 1, 1, [], false, Strings;
    Triml = "triml", N, 1, 1, [], false, Strings;
    Trimr = "trimr", N, 1, 1, [], false, Strings;
    TrimNewline = "trim-newline", N, 1, 1, [], false, Strings;
    IsBlank = "blank?", N, 1, 1, [], false, Strings;
    Upcase = "upcase", N, 1, 1, [], false, Strings;
    UpperCase = "upper-case", N, 1, 1, [], false, Strings;
    Downcase = "downcase", N, 1, 1, [], false, Strings;
    LowerCase = "lower-case", N, 1, 1, [], false, Strings;
    IsStartsWith = "starts-with?", N, 2, 2, [], false, Strings;
    IsEndsWith = "ends-with?", N, 2, 2, [], false, Strings;
    IsIncludes = "includes?", N, 2, 2, [], false, Strings;
    IndexOf = "index-of", M, 2, 3, [], false, Strings;
    LastIndexOf = "last-index-of", M, 2, 3, [], false, Strings;
    Format = "format", C, 0, MANY, [], false, Asked;
    Name = "name", N, 1, 1, [], false, Strings;
    Keyword = "keyword", N, 1, 1, [], false, Strings;
    IsChar = "char?", N, 1, 1, [], false, Strings;
    // Json and regex
    JsonParseString = "json/parse-string", N, 1, 1, [], false, Asked;
    JsonParseLines = "json/parse-lines", N, 1, 1, [], false, Asked;
    JsonGenerateString = "json/generate-string", N, 1, 1, [], false, Asked;
    RePattern = "re-pattern", N, 1, 1, [], false, Asked;
    ReFind = "re-find", N, 2, 2, [], false, Asked;
    ReMatches = "re-matches", N, 2, 2, [], false, Asked;
    ReSeq = "re-seq", N, 2, 2, [], false, Asked;
    ReSplit = "re-split", N, 2, 2, [], false, Asked;
    Extract = "extract", M, 2, 3, [], false, Asked;
    ExtractInt = "extract-int", M, 2, 4, [], false, Asked;
    // Predicates
    IsRegex = "regex?", N, 1, 1, [], false, Predicates;
    IsNil = "nil?", N, 1, 1, [], false, Predicates;
    IsSome = "some?", N, 1, 1, [], false, Predicates;
    IsTrue = "true?", N, 1, 1, [], false, Predicates;
    IsFalse = "false?", N, 1, 1, [], false, Predicates;
    IsBoolean = "boolean?", N, 1, 1, [], false, Predicates;
    IsNumber = "number?", N, 1, 1, [], false, Predicates;
    IsInt = "int?", N, 1, 1, [], false, Predicates;
    IsInteger = "integer?", N, 1, 1, [], false, Predicates;
    IsNatInt = "nat-int?", N, 1, 1, [], false, Predicates;
    IsPosInt = "pos-int?", N, 1, 1, [], false, Predicates;
    IsNegInt = "neg-int?", N, 1, 1, [], false, Predicates;
    IsRational = "rational?", N, 1, 1, [], false, Predicates;
    IsFloat = "float?", N, 1, 1, [], false, Predicates;
    IsDouble = "double?", N, 1, 1, [], false, Predicates;
    IsDecimal = "decimal?", N, 1, 1, [], false, Predicates;
    IsRatio = "ratio?", N, 1, 1, [], false, Predicates;
    IsSymbol = "symbol?", N, 1, 1, [], false, Predicates;
    IsSorted = "sorted?", N, 1, 1, [], false, Predicates;
    IsMapEntry = "map-entry?", N, 1, 1, [], false, Predicates;
    IsInfinite = "infinite?", N, 1, 1, [], false, Predicates;
    IsNaN = "NaN?", N, 1, 1, [], false, Predicates;
    IsString = "string?", N, 1, 1, [], false, Predicates;
    IsKeyword = "keyword?", N, 1, 1, [], false, Predicates;
    IsSet = "set?", N, 1, 1, [], false, Predicates;
    IsMap = "map?", N, 1, 1, [], false, Predicates;
    IsVector = "vector?", N, 1, 1, [], false, Predicates;
    IsColl = "coll?", N, 1, 1, [], false, Predicates;
    IsSequential = "sequential?", N, 1, 1, [], false, Predicates;
    IsSeq = "seq?", N, 1, 1, [], false, Predicates;
    IsAssociative = "associative?", N, 1, 1, [], false, Predicates;
    IsCounted = "counted?", N, 1, 1, [], false, Predicates;
    IsIndexed = "indexed?", N, 1, 1, [], false, Predicates;
    IsReversible = "reversible?", N, 1, 1, [], false, Predicates;
    IsSeqable = "seqable?", N, 1, 1, [], false, Predicates;
    IsFn = "fn?", N, 1, 1, [], false, Predicates;
    IsIfn = "ifn?", N, 1, 1, [], false, Predicates;
    IsDistinct = "distinct?", C, 0, MANY, [], false, Seqs;
    Type = "type", N, 1, 1, [], false, Predicates;
    Boolean = "boolean", N, 1, 1, [], false, Predicates;
    Not = "not", N, 1, 1, [], false, Predicates;
    // Functions
    Identity = "identity", N, 1, 1, [], false, Functions;
    Comp = "comp", C, 0, MANY, [], false, Functions;
    Partial = "partial", C, 0, MANY, [], false, Functions;
    Complement = "complement", N, 1, 1, [], false, Functions;
    Constantly = "constantly", N, 1, 1, [], false, Functions;
    Fnil = "fnil", N, 2, 2, [], false, Functions;
    EveryPred = "every-pred", C, 0, MANY, [], false, Functions;
    SomeFn = "some-fn", C, 0, MANY, [], false, Functions;
    // Interop
    NewDate = "java.util.Date.", M, 0, 1, [], false, Asked;
    MethodGetTime = ".getTime", N, 1, 1, [], false, Asked;
    LocalDateParse = "LocalDate/parse", N, 1, 1, [], false, Asked;
    InstantParse = "Instant/parse", N, 1, 1, [], false, Asked;
    ParseDate = "parse", N, 1, 1, [], false, Asked;
    MethodPlusDays = ".plusDays", N, 2, 2, [], false, Asked;
    MethodMinusDays = ".minusDays", N, 2, 2, [], false, Asked;
    MethodToEpochDay = ".toEpochDay", N, 1, 1, [], false, Asked;
    MethodIsBefore = ".isBefore", N, 2, 2, [], false, Asked;
    MethodIsAfter = ".isAfter", N, 2, 2, [], false, Asked;
    DurationBetween = "Duration/between", N, 2, 2, [], false, Asked;
    MethodToMillis = ".toMillis", N, 1, 1, [], false, Asked;
    MethodToDays = ".toDays", N, 1, 1, [], false, Asked;
    SystemCurrentTimeMillis = "System/currentTimeMillis", N, 0, 0, [], false, Asked;
    BooleanParseBoolean = "Boolean/parseBoolean", N, 1, 1, [], false, Asked;
    MethodLength = ".length", N, 1, 1, [], false, Strings;
    MethodToUpperCase = ".toUpperCase", N, 1, 1, [], false, Strings;
    MethodToLowerCase = ".toLowerCase", N, 1, 1, [], false, Strings;
    MethodContains = ".contains", N, 2, 2, [], false, Strings;
    MethodStartsWith = ".startsWith", N, 2, 2, [], false, Strings;
    MethodEndsWith = ".endsWith", N, 2, 2, [], false, Strings;
    MethodIndexOf = ".indexOf", M, 2, 3, [], false, Strings;
    MethodLastIndexOf = ".lastIndexOf", N, 2, 2, [], false, Strings;
    MethodSubstring = ".substring", M, 2, 3, [], false, Strings;
}

impl Builtin {
    /// Returns its row.
    #[inline]
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns its name, as programs write it.
    #[inline]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the built-in with this number.
    #[inline]
    pub fn of_number(number: usize) -> Option<Builtin> {
        ROWS.get(number).map(|row| row.builtin)
    }

    /// Whether it is only called by a form of its name, so that programs have no value of it.
    pub fn is_form(self) -> bool {
        matches!(self, Builtin::Pmap | Builtin::Pcalls)
    }

    /// Returns the built-in of this name, as a value.
    pub fn named(name: &str) -> Option<Builtin> {
        use crate::read::hash;
        use std::sync::OnceLock;
        // More than twice the rows, and a power of two. A place has the index of a row, plus one.
        const PLACES: usize = 1024;
        const { assert!(2 * ROWS.len() < PLACES) };
        static NAMES: OnceLock<[u16; PLACES]> = OnceLock::new();
        let first = |name: &str| hash(0, name.as_bytes()) as usize % PLACES;
        let names = NAMES.get_or_init(|| {
            let mut names = [0; PLACES];
            for (index, row) in ROWS.iter().enumerate() {
                let mut place = first(row.name);
                while names[place] != 0 {
                    place = (place + 1) % PLACES;
                }
                names[place] = index as u16 + 1;
            }
            names
        });
        let mut place = first(name);
        loop {
            let row = &ROWS[usize::from(names[place].checked_sub(1)?)];
            if row.name == name {
                return (!row.builtin.is_form()).then_some(row.builtin);
            }
            place = (place + 1) % PLACES;
        }
    }
}
