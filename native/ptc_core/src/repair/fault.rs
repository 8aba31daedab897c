//! What can be wrong with an answer, and what it costs to read over it.

/// A fault that can be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// `[1 2]`
    MissingComma,
    /// `[1,, 2]`
    ExtraComma,
    /// `[1,]`
    TrailingComma,
    /// `[1; 2]`
    Semicolon,
    /// `{"a" 1}`
    MissingColon,
    /// `{"a" = 1}`, `{"a" => 1}`
    NoColon,
    /// `/* … */`, `// …`, `# …`
    Comment,
    /// `[1, ...]`
    Ellipsis,
    /// `[1`
    MissingClose,
    /// `"a": 1}`
    MissingOpen,
    /// `[1]]`
    ExtraClose,
    /// `{{"a": 1}}`
    ExtraOpen,
    /// `[1}`
    WrongClose,
    /// `'a'`
    SingleQuotes,
    /// `“a”`
    SmartQuotes,
    /// `"""a"""`
    TripleQuotes,
    /// `a"`
    MissingStartQuote,
    /// `"a`
    MissingEndQuote,
    /// `"a "b" c"`
    InnerQuote,
    /// A line break or a tab in a string.
    ControlCharacter,
    /// `\'`
    BadEscape,
    /// `{a: 1}`
    BareKey,
    /// `[word]`
    BareWord,
    /// `True`, `None`, `undefined`, `NaN`
    ForeignWord,
    /// `+1`, `1.`, `.5`
    NumberForm,
    /// `1,234`
    Thousands,
    /// `**1**`, a quote too many
    StrayCharacter,
    /// `userId` where `user_id` is declared
    KeySpelling,
    /// `"1"` where a number is declared
    QuotedNumber,
    /// `"true"` where a boolean is declared
    QuotedBoolean,
    /// `"[1]"` where a list is declared
    Stringified,
    /// `1` where a list is declared
    BareElement,
    /// Something after the value, where nothing else is wrong: `{}}` in a fence.
    Leftover,
    /// A key that is not declared. Allowed, but a sign that something else is wrong.
    UnknownKey,
    /// A key for the second time. The first one counts.
    RepeatedKey,
}

impl Fault {
    /// What it costs to read over it. The differences decide between readings: a comma is forgotten
    /// more often than a quote, and a quote more often than a bracket in the middle of a text.
    pub fn cost(self) -> u32 {
        match self {
            Fault::Leftover => 0,
            Fault::SingleQuotes | Fault::SmartQuotes => 1,
            Fault::TrailingComma
            | Fault::Comment
            | Fault::BareKey
            | Fault::ForeignWord
            | Fault::NumberForm
            | Fault::BadEscape
            | Fault::UnknownKey => 2,
            Fault::ExtraComma
            | Fault::Semicolon
            | Fault::NoColon
            | Fault::ControlCharacter
            | Fault::KeySpelling
            | Fault::QuotedNumber
            | Fault::QuotedBoolean => 3,
            Fault::MissingComma
            | Fault::Ellipsis
            | Fault::Stringified
            | Fault::Thousands
            | Fault::TripleQuotes => 4,
            Fault::MissingColon | Fault::InnerQuote | Fault::BareElement => 5,
            Fault::MissingClose => 6,
            Fault::MissingOpen | Fault::WrongClose => 7,
            Fault::ExtraClose
            | Fault::MissingStartQuote
            | Fault::MissingEndQuote
            | Fault::BareWord => 8,
            Fault::StrayCharacter => 9,
            Fault::ExtraOpen => 10,
            Fault::RepeatedKey => 12,
        }
    }

    /// What it costs for the second time. Who leaves out the quotes of one key leaves out those of the
    /// others: that is one fault, and not many.
    pub fn cost_again(self) -> u32 {
        match self {
            Fault::SingleQuotes
            | Fault::SmartQuotes
            | Fault::BareKey
            | Fault::NoColon
            | Fault::Semicolon
            | Fault::KeySpelling => 0,
            Fault::TrailingComma
            | Fault::Comment
            | Fault::ForeignWord
            | Fault::NumberForm
            | Fault::BadEscape
            | Fault::ControlCharacter
            | Fault::QuotedNumber
            | Fault::QuotedBoolean => 1,
            Fault::MissingComma | Fault::Thousands => 2,
            Fault::MissingColon | Fault::BareElement => 3,
            fault => fault.cost(),
        }
    }

    /// Whether it is told. What is allowed is only counted.
    pub fn is_repair(self) -> bool {
        !matches!(self, Fault::UnknownKey | Fault::RepeatedKey)
    }
}
