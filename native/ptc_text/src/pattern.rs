//! Patterns: those of the `regex` crate, of bounded size.
//!
//! A pattern is weighed before it is compiled, because its size can grow exponentially with its length: `\w{50}` has
//! 16,000 states, `(\w{20}){20}` has 130,000.

use crate::automata::Automata;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{Config, WhichCaptures, NFA};
use regex_automata::MatchKind;
use regex_syntax::ast::{self, parse::ParserBuilder, visit, Ast, ClassSetItem, RepetitionKind};
use regex_syntax::ast::{RepetitionRange, Visitor};
use regex_syntax::hir::translate::Translator;
use std::convert::Infallible;
use std::sync::OnceLock;

/// Bytes of the longest pattern.
pub const LONGEST_PATTERN: usize = 8_192;
/// Depth of groups, classes and repetitions: the compiler recurses over them, and takes up to 3 KB of stack for each.
const DEEPEST: u32 = 32;
/// Greatest weight of a pattern, about its number of states.
const HEAVIEST: usize = 60_000;
/// Bytes of its largest automaton.
const LARGEST: usize = 8 << 20;
/// Bytes of states that a search keeps at most.
pub(crate) const CACHE: usize = 1 << 20;

/// Greatest product of the number of groups and the weight: a search notes the places of all groups in each state.
const MOST_PLACES: usize = 2_000_000;

/// Weight of a class of Unicode, as `\w`.
const WEIGHT_OF_CLASS: usize = 400;
/// Weight of `.`, and of a class that is not of ASCII letters.
const WEIGHT_OF_SET: usize = 12;

/// Units of fuel to compile a pattern, per unit of weight.
const COMPILE: usize = 100;
/// Units of fuel to parse a byte of a pattern.
const PARSE: usize = 20;

/// Why a text is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternError {
    /// It does not follow the syntax, for this reason.
    Invalid(&'static str),
    /// It is too long, or would be too large.
    TooLarge,
}

/// The syntax tree of a pattern that is not compiled yet.
#[derive(Debug)]
pub struct Source<'p> {
    text: &'p str,
    ast: Ast,
    weight: usize,
}

impl<'p> Source<'p> {
    /// Returns the units of fuel to read a pattern.
    pub fn cost_to_read(text: &str) -> usize {
        1 + PARSE * text.len().min(LONGEST_PATTERN)
    }

    /// Reads a pattern.
    pub fn read(text: &'p str) -> Result<Self, PatternError> {
        if text.len() > LONGEST_PATTERN {
            return Err(PatternError::TooLarge);
        }
        let parsed = ParserBuilder::new().nest_limit(DEEPEST).build().parse(text);
        let ast = parsed.map_err(|error| PatternError::Invalid(reason_of_ast(error.kind())))?;
        let Weighing { weight, groups, .. } = weigh(&ast);
        match weight > HEAVIEST || weight.saturating_mul(groups) > MOST_PLACES {
            true => Err(PatternError::TooLarge),
            false => Ok(Source { text, ast, weight }),
        }
    }

    /// Returns the units of fuel to compile it.
    pub fn cost_to_compile(&self) -> usize {
        COMPILE * (20 + self.weight)
    }

    /// Compiles it.
    pub fn compile(&self) -> Result<Pattern, PatternError> {
        let hir = Translator::new()
            .translate(self.text, &self.ast)
            .map_err(|error| PatternError::Invalid(reason_of_hir(error.kind())))?;
        let config = Regex::config()
            .match_kind(MatchKind::LeftmostFirst)
            .nfa_size_limit(Some(LARGEST))
            .hybrid_cache_capacity(CACHE);
        let regex = Regex::builder().configure(config).build_from_hir(&hir);
        let regex = regex.map_err(|_| PatternError::TooLarge)?;
        let groups = regex.group_info();
        let names = groups.pattern_names(Default::default()).skip(1);
        Ok(Pattern {
            names: names.map(|name| name.map(Box::from)).collect(),
            text: self.text.into(),
            regex,
            weight: self.weight,
            longest: hir.properties().maximum_len(),
            automata: OnceLock::new(),
            nfa: OnceLock::new(),
        })
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: Box<str>,
    pub(crate) regex: Regex,
    /// The names of the groups; the whole match has none.
    names: Vec<Option<Box<str>>>,
    weight: usize,
    /// The bytes of its longest match, if there is one.
    longest: Option<usize>,
    /// The automata that are run step by step in long texts.
    automata: OnceLock<Option<Box<Automata>>>,
    /// The one that finds groups there, and word boundaries in other texts than those of ASCII.
    nfa: OnceLock<Option<NFA>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Returns the names of the groups, without the whole match: `None` for a group without a name.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.names.iter().map(Option::as_deref)
    }

    /// Returns whether a group has a name.
    pub fn has_names(&self) -> bool {
        self.names.iter().any(Option::is_some)
    }

    /// Returns the words of memory that it takes.
    pub fn words(&self) -> usize {
        self.regex.memory_usage() / 8
    }

    /// Returns the bytes of its longest match; `None` if a match can have any length.
    pub(crate) fn longest(&self) -> Option<usize> {
        self.longest
    }

    /// Returns the states that a step of a search visits at most, about.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the units of fuel to build its automata, if they are not built.
    pub(crate) fn cost_of_automata(&self) -> usize {
        match self.automata.get() {
            Some(_) => 1,
            None => COMPILE * (20 + self.weight),
        }
    }

    /// Returns its automata; `None` for the few patterns that have none.
    pub(crate) fn automata(&self) -> Option<&Automata> {
        let automata = self.automata.get_or_init(|| Automata::new(&self.text));
        automata.as_deref()
    }

    /// Returns its automata if they are built.
    pub(crate) fn built(&self) -> Option<&Automata> {
        self.automata.get()?.as_deref()
    }

    /// Returns the units of fuel to build the automaton for threads, if it is not built.
    pub(crate) fn cost_of_nfa(&self) -> usize {
        match self.nfa.get() {
            Some(_) => 1,
            None => COMPILE / 2 * (20 + self.weight),
        }
    }

    /// Returns its automaton for threads; `None` if it would be too large.
    pub(crate) fn nfa(&self) -> Option<&NFA> {
        let groups = WhichCaptures::All;
        let nfa = self.nfa.get_or_init(|| build(&self.text, false, groups));
        nfa.as_ref()
    }
}

/// Builds an automaton.
pub(crate) fn build(text: &str, reverse: bool, captures: WhichCaptures) -> Option<NFA> {
    let config = Config::new()
        .reverse(reverse)
        .which_captures(captures)
        .nfa_size_limit(Some(LARGEST));
    let mut compiler = NFA::compiler();
    let hir = regex_syntax::ParserBuilder::new()
        .nest_limit(DEEPEST)
        .build()
        .parse(text);
    compiler.configure(config).build_from_hir(&hir.ok()?).ok()
}

/// Returns about how many states the pattern has, and how many groups.
fn weigh(ast: &Ast) -> Weighing {
    match visit(ast, Weighing::default()) {
        Ok(weighing) => weighing,
        Err(never) => match never {},
    }
}

/// A walk over a pattern, without recursion.
#[derive(Default)]
struct Weighing {
    weight: usize,
    groups: usize,
    /// How often the parts around the current one are repeated, innermost last.
    times: Vec<usize>,
}

impl Weighing {
    fn add(&mut self, weight: usize) {
        let times = self.times.last().copied().unwrap_or(1);
        self.weight = self.weight.saturating_add(weight.saturating_mul(times));
    }
}

impl Visitor for Weighing {
    type Output = Weighing;
    type Err = Infallible;

    fn finish(self) -> Result<Weighing, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Repetition(repetition) => {
                let times = match &repetition.op.kind {
                    RepetitionKind::Range(RepetitionRange::Exactly(times)) => *times,
                    RepetitionKind::Range(RepetitionRange::AtLeast(least)) => {
                        least.saturating_add(1)
                    }
                    RepetitionKind::Range(RepetitionRange::Bounded(_, most)) => *most,
                    _ => 1,
                };
                let around = self.times.last().copied().unwrap_or(1);
                self.times
                    .push(around.saturating_mul(times.max(1) as usize));
            }
            Ast::Group(group) if group.is_capturing() => {
                self.groups += 1;
                self.add(2);
            }
            Ast::ClassPerl(_) | Ast::ClassUnicode(_) => self.add(WEIGHT_OF_CLASS),
            Ast::Dot(_) | Ast::ClassBracketed(_) => self.add(WEIGHT_OF_SET),
            _ => self.add(2),
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Repetition(_) = ast {
            self.times.pop();
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Unicode(_) | ClassSetItem::Perl(_) => self.add(WEIGHT_OF_CLASS),
            _ => self.add(2),
        }
        Ok(())
    }
}

/// Returns what is wrong with a pattern.
fn reason_of_ast(kind: &ast::ErrorKind) -> &'static str {
    use ast::ErrorKind::*;
    match kind {
        CaptureLimitExceeded => "too many groups",
        ClassEscapeInvalid => "invalid escape in a character class",
        ClassRangeInvalid => "invalid range in a character class",
        ClassRangeLiteral => "the end of a range in a character class is not a character",
        ClassUnclosed => "unclosed character class",
        DecimalEmpty => "a number is missing",
        DecimalInvalid => "invalid number",
        EscapeHexEmpty | EscapeHexInvalid | EscapeHexInvalidDigit => "invalid hexadecimal escape",
        EscapeUnexpectedEof => "an escape at the end",
        EscapeUnrecognized => "unknown escape",
        FlagDanglingNegation => "a minus without a flag after it",
        FlagDuplicate { .. } => "a flag that is given twice",
        FlagRepeatedNegation { .. } => "flags with two minus signs",
        FlagUnexpectedEof => "flags that do not end",
        FlagUnrecognized => "unknown flag",
        GroupNameDuplicate { .. } => "two groups of the same name",
        GroupNameEmpty => "a group with an empty name",
        GroupNameInvalid => "a group with an invalid name",
        GroupNameUnexpectedEof => "the name of a group does not end",
        GroupUnclosed => "unclosed group",
        GroupUnopened => "unopened group",
        NestLimitExceeded(_) => "groups or classes nested too deeply",
        RepetitionCountInvalid => "a repetition whose least count is greater than its greatest",
        RepetitionCountDecimalEmpty => "a repetition without a count",
        RepetitionCountUnclosed => "unclosed repetition count",
        RepetitionMissing => "a repetition without an expression before it",
        SpecialWordBoundaryUnclosed => "unclosed word boundary",
        SpecialWordBoundaryUnrecognized => "unknown word boundary",
        SpecialWordOrRepetitionUnexpectedEof => "neither a word boundary nor a repetition",
        UnicodeClassInvalid => "invalid Unicode class",
        UnsupportedBackreference => "back-references are not supported",
        UnsupportedLookAround => "look-around is not supported",
        _ => "syntax error",
    }
}

/// Returns what a pattern means that no text can have.
fn reason_of_hir(kind: &regex_syntax::hir::ErrorKind) -> &'static str {
    use regex_syntax::hir::ErrorKind::*;
    match kind {
        UnicodeNotAllowed => "Unicode is not allowed here",
        InvalidUtf8 => "it can match a part of a character",
        UnicodePropertyNotFound => "unknown Unicode property",
        UnicodePropertyValueNotFound => "unknown value of a Unicode property",
        UnicodePerlClassNotFound => "unknown Unicode class",
        _ => "it has no meaning",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str) -> Result<Pattern, PatternError> {
        Source::read(text)?.compile()
    }

    #[test]
    fn what_is_no_pattern() {
        let wrong = [
            ("(", "unclosed group"),
            ("a)", "unopened group"),
            ("[a", "unclosed character class"),
            ("*a", "a repetition without an expression before it"),
            (
                "a{2,1}",
                "a repetition whose least count is greater than its greatest",
            ),
            ("(?P<n", "the name of a group does not end"),
            ("(a)\\1", "back-references are not supported"),
            ("(?=a)", "look-around is not supported"),
            ("\\p{Nope}", "unknown Unicode property"),
            ("(?-u:\\xFF)", "it can match a part of a character"),
            ("\\", "an escape at the end"),
        ];
        for (text, reason) in wrong {
            assert_eq!(
                compile(text).err(),
                Some(PatternError::Invalid(reason)),
                "{text}"
            );
        }
        let deep = "(".repeat(60) + &")".repeat(60);
        let too_deep = PatternError::Invalid("groups or classes nested too deeply");
        assert_eq!(compile(&deep).err(), Some(too_deep));
    }

    #[test]
    fn what_is_too_large() {
        let long = "a".repeat(LONGEST_PATTERN + 1);
        for text in [
            &long,
            "\\w{1000}",
            "((a{100}){100}){100}",
            "(\\w{1,20}\\s){1,20}",
        ] {
            assert_eq!(
                compile(text).err(),
                Some(PatternError::TooLarge),
                "{text:.20}"
            );
        }
        assert_eq!(
            compile(&"\\pL".repeat(2_000)).err(),
            Some(PatternError::TooLarge)
        );
        for text in [
            "\\w{50}",
            ".{1000}",
            "^[\\w.+-]{1,64}@[a-z0-9.-]{1,63}$",
            &"a".repeat(8_000),
        ] {
            assert!(compile(text).is_ok(), "{text:.20}");
        }
    }

    #[test]
    fn the_deepest_pattern_fits_the_stack_of_a_scheduler() {
        // A dirty scheduler has 335,872 bytes. Without optimisation, frames are several times as large.
        let stack = if cfg!(debug_assertions) {
            1_500_000
        } else {
            160_000
        };
        let shapes = [
            ("(a|", ")*"),
            ("(?i:x(", "){2}|b?)"),
            ("[a&&", "]"),
            ("(?:", ")"),
            ("(b+", ")??"),
        ];
        for (before, after) in shapes {
            let deep = |depth| before.repeat(depth) + "a" + &after.repeat(depth);
            let depth = (1..).take_while(|depth| Source::read(&deep(*depth)).is_ok());
            let text = deep(depth.last().unwrap());
            let run = move || compile(&text).map(drop);
            let thread = std::thread::Builder::new().stack_size(stack).spawn(run);
            assert_eq!(thread.unwrap().join().unwrap(), Ok(()), "{before}");
        }
    }

    #[test]
    fn groups_have_names() {
        let pattern = compile("(?P<y>\\d{4})-(\\d\\d)").unwrap();
        assert_eq!(pattern.names().collect::<Vec<_>>(), [Some("y"), None]);
        assert!(pattern.has_names() && pattern.words() > 100);
        assert_eq!(compile("a").unwrap().names().len(), 0);
    }
}
