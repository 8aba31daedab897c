//! What is asked of a text, and which faults of it are repaired, at which cost.

use crate::repair::text::{quote, skip_all_blanks};
use ptc_term::named::named;
use ptc_type::{AnswerType, Fields, Type, TypeId, Types};

named! {
    /// A fault that can be repaired.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Fault {
        /// `[1 2]`
        MissingComma = "missing_comma",
        /// `[1,, 2]`
        ExtraComma = "extra_comma",
        /// `[1,]`
        TrailingComma = "trailing_comma",
        /// `[1; 2]`
        Semicolon = "semicolon",
        /// `{"a" 1}`
        MissingColon = "missing_colon",
        /// `{"a" = 1}`, `{"a" => 1}`
        NoColon = "wrong_colon",
        /// `/* … */`, `// …`, `# …`
        Comment = "comment",
        /// `[1, ...]`
        Ellipsis = "ellipsis",
        /// `{"a": [1}`
        MissingClose = "missing_close",
        /// `"a": 1}`
        MissingOpen = "missing_open",
        /// `{"a": 1]}`
        ExtraClose = "extra_close",
        /// `{{"a": 1}}`
        ExtraOpen = "extra_open",
        /// `[1}`
        WrongClose = "wrong_close",
        /// `'a'`
        SingleQuotes = "single_quotes",
        /// `“a”`
        SmartQuotes = "smart_quotes",
        /// `"""a"""`
        TripleQuotes = "triple_quotes",
        /// `a"`
        MissingStartQuote = "missing_start_quote",
        /// `"a`
        MissingEndQuote = "missing_end_quote",
        /// `"a "b" c"`
        InnerQuote = "inner_quote",
        /// A line break or a tab in a string.
        ControlCharacter = "control_character",
        /// `\'`
        BadEscape = "bad_escape",
        /// `{a: 1}`
        BareKey = "bare_key",
        /// `{"a": word}`
        BareWord = "bare_word",
        /// `True`, `None`, `undefined`, `NaN`
        ForeignWord = "foreign_word",
        /// `+1`, `1.`, `.5`
        NumberForm = "number_form",
        /// `1,234`
        Thousands = "thousands",
        /// `**1**`, a superfluous quote
        StrayCharacter = "stray_character",
        /// `userId` where `user_id` is declared
        KeySpelling = "key_spelling",
        /// `"1"` where a number is declared
        QuotedNumber = "quoted_number",
        /// `1` where a text is declared
        NumberAsText = "number_as_text",
        /// `"true"` where a boolean is declared
        QuotedBoolean = "quoted_boolean",
        /// `"[1]"` where a list is declared
        Stringified = "stringified",
        /// `1` where a list is declared
        BareElement = "bare_element",
        /// Text after a value that has no other fault: `{}}` in a fence.
        Leftover = "leftover",
    }
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
            | Fault::BadEscape => 2,
            Fault::ExtraComma
            | Fault::Semicolon
            | Fault::NoColon
            | Fault::ControlCharacter
            | Fault::KeySpelling
            | Fault::QuotedNumber
            | Fault::NumberAsText
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
            | Fault::NumberAsText
            | Fault::QuotedBoolean => 1,
            Fault::MissingComma | Fault::Thousands => 2,
            Fault::MissingColon | Fault::BareElement => 3,
            fault => fault.cost(),
        }
    }

    /// Returns whether the repair converts a value or a key at its place, and leaves the syntax as it is.
    pub fn is_conversion(self) -> bool {
        matches!(
            self,
            Fault::KeySpelling
                | Fault::QuotedNumber
                | Fault::NumberAsText
                | Fault::QuotedBoolean
                | Fault::Stringified
                | Fault::BareElement
                | Fault::Leftover
        )
    }
}

/// What is done with a text that ends before the answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// Open lists and objects are closed.
    CloseAll,
    /// Objects are closed after a complete value, if they have all declared fields. In an answer
    /// without a type, any object is.
    CloseObjects,
    /// Nothing is closed.
    CloseNothing,
}

/// What is wanted of a text.
#[derive(Debug)]
pub struct Wanted {
    /// The type of the value.
    pub answer_type: AnswerType,
    /// Keys with hyphens for underscores need no repair.
    pub hyphens: bool,
    /// What is done with a text that ends before the answer is complete.
    pub at_end: AtEnd,
}

impl Wanted {
    /// A value of this type.
    pub fn new(answer_type: AnswerType) -> Self {
        Wanted {
            answer_type,
            hyphens: false,
            at_end: AtEnd::CloseAll,
        }
    }

    /// Any value.
    pub fn anything() -> Self {
        Wanted::new(AnswerType::anything())
    }

    /// Returns the table of types.
    #[inline]
    pub fn types(&self) -> &Types {
        self.answer_type.types()
    }

    /// Returns whether the search refuses texts that were cut off.
    pub fn refuses_cut(&self) -> bool {
        self.at_end != AtEnd::CloseAll
    }

    /// Returns whether an object may be closed where the text ends: nothing can be missing.
    pub fn may_close(&self, id: TypeId, seen: u64) -> bool {
        match (self.at_end, self.types().map(id)) {
            (AtEnd::CloseNothing, _) => false,
            (_, Some((fields, _))) => {
                fields.count <= 64 && self.types().is_complete(fields, seen, true)
            }
            _ => self.is_anything(),
        }
    }

    /// Returns whether a key that names a field is spelled correctly.
    #[inline]
    pub fn is_right(&self, fields: Fields, field: usize, key: &[u8]) -> bool {
        let types = self.types();
        self.hyphens || types.field(field).name == key || types.has_name(fields, key)
    }

    /// Returns the type of the object at an offset, if it wraps the whole value.
    pub fn wrapper_at(&self, text: &[u8], at: usize) -> Option<TypeId> {
        self.answer_type.wrapper().filter(|_| {
            let key = skip_all_blanks(text, at + 1);
            let key = key + quote(text, key).map_or(0, |(_, length)| length);
            text.get(at) == Some(&b'{') && text[key.min(text.len())..].starts_with(b"items")
        })
    }

    /// Returns the type of the value that begins at an offset: of an element, if the brackets around
    /// the list are missing.
    pub fn root_at(&self, text: &[u8], at: usize) -> TypeId {
        let root = self.answer_type.root();
        let list = match self.types().required(root).0 {
            Type::List(holds) if text.get(at) == Some(&b'{') => Some(holds),
            _ => None,
        };
        self.wrapper_at(text, at).or(list).unwrap_or(root)
    }

    /// Returns whether the value is a list: its objects may stand one after the other.
    pub fn is_list(&self) -> bool {
        let root = self.answer_type.root();
        matches!(self.types().required(root).0, Type::List(_))
    }

    /// Returns whether any value is of the type.
    pub fn is_anything(&self) -> bool {
        self.types().is_any(self.answer_type.root())
    }
}
