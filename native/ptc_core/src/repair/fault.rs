//! The faults that can be repaired, and the cost of each repair.

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
    /// `**1**`, a superfluous quote
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
    /// Text after a value that has no other fault: `{}}` in a fence.
    Leftover,
    /// An undeclared key. It is allowed, but suggests another fault.
    UnknownKey,
    /// A repeated key. The first one counts.
    RepeatedKey,
}

impl Fault {
    /// Returns the cost of the repair. The differences decide between readings: a comma is missing more
    /// often than a quote, and a quote more often than a bracket in the middle of a text.
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

    /// Returns the cost of repairing the same fault again. If the quotes of one key are missing, those
    /// of the others are too: this counts as one fault, not as many.
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

    /// Returns whether the repair is reported. Faults that are allowed only cost.
    pub fn is_repair(self) -> bool {
        !matches!(self, Fault::UnknownKey | Fault::RepeatedKey)
    }
}
