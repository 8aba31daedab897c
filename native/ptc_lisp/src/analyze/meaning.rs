//! What a name means where no local and no definition has it.

use super::special::Special;
use crate::ast::Literal;
use crate::table::Builtin;

/// The meaning of the name of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A name without a meaning of its own.
    Unknown,
    /// A built-in.
    Builtin(Builtin),
    /// A special form, at the head of a list.
    Special(Special),
    /// `ns/name`: where the slash is.
    Qualified(u32),
    /// `%`, `%1`, …, and `%&` as 0.
    Placeholder(u32),
    /// `.name` that is no built-in.
    Method,
    /// A constant of interop.
    Constant(Constant),
    /// `try`: a form only with a clause that catches.
    Try,
    /// `throw`: refused where something is caught.
    Throw,
}

/// A constant that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// `POSITIVE_INFINITY`
    Infinity,
    /// `NEGATIVE_INFINITY`
    NegativeInfinity,
    /// `NaN`
    NaN,
}

impl Constant {
    /// Returns the constant of this name.
    pub fn named(name: &str) -> Option<Constant> {
        match name {
            "POSITIVE_INFINITY" => Some(Constant::Infinity),
            "NEGATIVE_INFINITY" => Some(Constant::NegativeInfinity),
            "NaN" => Some(Constant::NaN),
            _ => None,
        }
    }

    /// Returns its value.
    pub fn literal(self) -> Literal {
        match self {
            Constant::Infinity => Literal::Infinity,
            Constant::NegativeInfinity => Literal::NegativeInfinity,
            Constant::NaN => Literal::NaN,
        }
    }
}

impl Meaning {
    /// Returns the meaning of a name.
    pub fn of(name: &str) -> Meaning {
        if let Some(builtin) = Builtin::named(name) {
            return Meaning::Builtin(builtin);
        }
        if let Some(special) = Special::named(name) {
            return Meaning::Special(special);
        }
        if let Some(constant) = Constant::named(name) {
            return Meaning::Constant(constant);
        }
        match name.as_bytes() {
            b"try" => return Meaning::Try,
            b"throw" => return Meaning::Throw,
            [b'%', rest @ ..] => return placeholder(rest),
            [b'.', ..] => return Meaning::Method,
            _ => {}
        }
        match name.find('/') {
            Some(slash) if slash > 0 && slash + 1 < name.len() => Meaning::Qualified(slash as u32),
            _ => Meaning::Unknown,
        }
    }
}

/// Returns what `%` means with these characters behind it.
fn placeholder(rest: &[u8]) -> Meaning {
    match rest {
        b"" => Meaning::Placeholder(1),
        b"&" => Meaning::Placeholder(0),
        digits if digits.iter().all(u8::is_ascii_digit) => {
            let number = digits.iter().fold(0_u32, |number, digit| {
                (number.saturating_mul(10)).saturating_add(u32::from(digit - b'0'))
            });
            match number {
                0 => Meaning::Unknown,
                _ => Meaning::Placeholder(number),
            }
        }
        _ => Meaning::Unknown,
    }
}
