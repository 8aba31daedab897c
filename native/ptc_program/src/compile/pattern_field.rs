//! Fields that hold a pattern: it is compiled where the field is checked.

use super::plan::Checked;
use super::{Failure, Plan};
use crate::code::PatternId;
use crate::fault::{Code, Fault};
use ptc_json::Node;
use ptc_text::{PatternError, Source};

/// The phrase of the error for a pattern beyond the limits.
const TOO_LARGE: &str = "'pattern' is too large";

impl Plan<'_, '_> {
    /// Checks a pattern, and compiles it.
    pub(super) fn check_pattern(&mut self, node: Node) -> Checked<()> {
        let source = self.source();
        let Some(text) = source
            .text(node)
            .and_then(|text| std::str::from_utf8(text).ok())
        else {
            return self.no_pattern(PatternError::Invalid("it is not UTF-8"));
        };
        if self.patterns().place(text).is_some() {
            return Ok(());
        }
        self.consume_fuel(Source::cost_to_read(text))?;
        let source = match Source::read(text) {
            Ok(source) => source,
            Err(error) => return self.no_pattern(error),
        };
        self.consume_fuel(source.cost_to_compile())?;
        match source.compile() {
            Ok(pattern) => self.patterns().add(text, pattern),
            Err(error) => return self.no_pattern(error),
        }
        // What was compiled counts against the limit of words.
        self.consume_fuel(0)
    }

    fn no_pattern(&self, error: PatternError) -> Checked<()> {
        let fault = |code| Fault::new(code, Some(self.op.name()), vec![]);
        Err(Failure::Rejected(match error {
            PatternError::Invalid(reason) => fault(Code::PatternWrong).about(reason),
            PatternError::TooLarge => fault(Code::FieldWrong).about(TOO_LARGE),
        }))
    }

    /// Returns the pattern in a field, which has been checked.
    pub fn pattern_of(&mut self, name: &'static str) -> PatternId {
        let text = self.field(name).and_then(|node| self.source().text(node));
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        let place = text.and_then(|text| self.patterns().place(text));
        place.unwrap_or(PatternId::MAX)
    }
}
