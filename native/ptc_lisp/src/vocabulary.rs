//! The vocabulary: the keywords and names that leave a run as atoms.
//!
//! The list is fixed, so no program makes an atom (specification, section 2.3). Keywords with other names are structs.

use crate::read::hash;
use ptc_term::named::Named;
use std::sync::OnceLock;

/// A word of the vocabulary, by its place in [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vocabulary(u16);

impl Vocabulary {
    /// Returns the word of this name.
    pub fn of(name: &str) -> Option<Self> {
        // More than twice the words, and a power of two. A place has the index of a word, plus one.
        const PLACES: usize = 1024;
        const { assert!(2 * NAMES.len() < PLACES) };
        static PLACES_OF: OnceLock<[u16; PLACES]> = OnceLock::new();
        let first = |name: &str| hash(0, name.as_bytes()) as usize % PLACES;
        let places = PLACES_OF.get_or_init(|| {
            let mut places = [0; PLACES];
            for (index, name) in NAMES.iter().enumerate() {
                let mut place = first(name);
                while places[place] != 0 {
                    place = (place + 1) % PLACES;
                }
                places[place] = index as u16 + 1;
            }
            places
        });
        let mut place = first(name);
        loop {
            let word = places[place].checked_sub(1)?;
            if NAMES[usize::from(word)] == name {
                return Some(Vocabulary(word));
            }
            place = (place + 1) % PLACES;
        }
    }
}

impl Named for Vocabulary {
    const ALL: &'static [Self] = &all();

    fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }
}

const fn all() -> [Vocabulary; NAMES.len()] {
    let mut all = [Vocabulary(0); NAMES.len()];
    let mut place = 0;
    while place < NAMES.len() {
        all[place] = Vocabulary(place as u16);
        place += 1;
    }
    all
}

/// The words, in the order of their bytes.
#[rustfmt::skip]
const NAMES: [&str; 382] = [
    "&", "*", "*'", "+", "+'", "-", "-'", "->", "->>", ".", ".contains", ".endsWith", ".getTime", ".indexOf",
    ".isAfter", ".isBefore", ".lastIndexOf", ".length", ".minusDays", ".plusDays", ".startsWith",
    ".substring", ".toDays", ".toEpochDay", ".toLowerCase", ".toMillis", ".toUpperCase", "/", "<", "<=", "=",
    "==", ">", ">=", "Boolean", "Boolean/parseBoolean", "Double", "Duration", "Duration/between", "Float",
    "Instant", "Integer", "LocalDate", "Long", "Math", "NEGATIVE_INFINITY", "NaN", "NaN?",
    "POSITIVE_INFINITY", "System", "abs", "all-ns", "and", "apply", "apropos", "array-map", "as", "as->",
    "assoc", "assoc-in", "associative?", "avg", "avg-by", "between", "bit-and", "bit-and-not", "bit-clear",
    "bit-flip", "bit-not", "bit-or", "bit-set", "bit-shift-left", "bit-shift-right", "bit-test", "bit-xor",
    "blank?", "boolean", "boolean?", "budget", "butlast", "case", "ceil", "char?", "clojure.core",
    "clojure.set", "clojure.string", "clojure.walk", "coll?", "combinations", "comment", "comp", "compare",
    "complement", "concat", "cond", "cond->", "cond->>", "condp", "conj", "cons", "constantly", "contains?",
    "core", "count", "counted?", "currentTimeMillis", "data", "dec", "dec'", "decimal?", "dedupe", "def",
    "defn", "defonce", "describe", "difference", "dir", "disj", "dissoc", "distinct", "distinct-by",
    "distinct?", "do", "doc", "doseq", "double", "double?", "downcase", "drop", "drop-last", "drop-while",
    "else", "empty", "empty?", "ends-with?", "entries", "even?", "every-pred", "every?", "extract",
    "extract-int", "fail", "false?", "ffirst", "filter", "filterv", "find", "first", "flatten", "float",
    "float?", "floor", "fn", "fn?", "fnext", "fnil", "for", "format", "frequencies", "generate-string", "get",
    "get-in", "group-by", "hash-map", "hash-set", "identity", "if", "if-let", "if-not", "if-some", "ifn?",
    "inc", "inc'", "includes?", "index-of", "indexed?", "infinite?", "int", "int?", "integer?", "interleave",
    "interpose", "intersection", "into", "java.time.Duration", "java.time.Instant", "java.time.LocalDate",
    "java.util.Date.", "join", "json", "json/generate-string", "json/parse-lines", "json/parse-string",
    "juxt", "keep", "keep-indexed", "key", "keys", "keyword", "keyword?", "last", "last-index-of", "let",
    "list", "loop", "lower-case", "map", "map-entry?", "map-indexed", "map?", "mapcat", "mapv", "max",
    "max-by", "max-key", "mcp", "merge", "merge-with", "meta", "min", "min-by", "min-key", "mod", "name",
    "nat-int?", "neg-int?", "neg?", "next", "nfirst", "nil?", "nnext", "not", "not-any?", "not-empty",
    "not-every?", "not=", "ns-name", "ns-publics", "nth", "nthnext", "nthrest", "number?", "odd?", "or", "p1",
    "p10", "p11", "p12", "p13", "p14", "p15", "p16", "p17", "p18", "p19", "p2", "p20", "p3", "p4", "p5", "p6",
    "p7", "p8", "p9", "parse", "parse-boolean", "parse-double", "parse-int", "parse-lines", "parse-long",
    "parse-string", "partial", "partition", "partition-all", "partition-by", "pcalls", "peek", "pmap", "pop",
    "pos-int?", "pos?", "postwalk", "pow", "pr-str", "prewalk", "println", "quot", "quote", "range", "ratio?",
    "rational?", "re-find", "re-matches", "re-pattern", "re-seq", "re-split", "recur", "reduce", "reduce-kv",
    "regex", "regex?", "rem", "remaining", "remove", "replace", "rest", "return", "reverse", "reversible?",
    "round", "second", "select-keys", "seq", "seq?", "seqable?", "sequential?", "servers", "set", "set?",
    "some", "some->", "some->>", "some-fn", "some?", "sort", "sort-by", "sorted?", "source", "split",
    "split-at", "split-lines", "split-with", "sqrt", "starts-with?", "step-done", "str", "string", "string?",
    "strs", "subs", "subvec", "sum", "sum-by", "summary", "symbol?", "take", "take-last", "take-while",
    "task", "task-reset", "text", "tool", "tree-seq", "trim", "trim-newline", "triml", "trimr", "true?",
    "trunc", "type", "union", "upcase", "update", "update-in", "update-keys", "update-vals", "upper-case",
    "val", "vals", "vec", "vector", "vector?", "walk", "when", "when-first", "when-let", "when-not",
    "when-some", "while", "zero?", "zip", "zipmap",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found() {
        for (place, name) in NAMES.iter().enumerate() {
            assert_eq!(Vocabulary::of(name), Some(Vocabulary::ALL[place]));
            assert_eq!(Vocabulary::ALL[place].name(), *name);
        }
        assert_eq!(Vocabulary::of("zork"), None);
    }
}
