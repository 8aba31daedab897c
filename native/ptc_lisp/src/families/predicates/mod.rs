//! Predicates: what a value is.

use crate::code::{Eval, Machine};
use crate::consts::Word;
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use crate::values::{class, Class};
use num_bigint::Sign;
use ptc_term::heap::Heap;
use ptc_term::number::Number;

/// Evaluates a built-in of the family. Constant time.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    use Builtin as B;
    let [term] = *arguments else {
        return Err(invalid_types(builtin, arguments));
    };
    let holds = match builtin {
        B::Boolean => m.heap.truthy(term),
        B::Not => !m.heap.truthy(term),
        B::Type => return Ok(type_of(m, term)),
        B::IsInt | B::IsInteger | B::IsRational => is_integer(m, term),
        B::IsNatInt | B::IsPosInt | B::IsNegInt => match sign(m, term) {
            None => false,
            Some(sign) => match builtin {
                B::IsNatInt => sign != Sign::Minus,
                B::IsPosInt => sign == Sign::Plus,
                _ => sign == Sign::Minus,
            },
        },
        B::IsFloat | B::IsDouble => m.heap.float(term).is_some(),
        B::IsTrue => m.heap.identical(term, m.heap.boolean(true)),
        B::IsFalse => m.heap.identical(term, m.heap.boolean(false)),
        B::IsInfinite | B::IsNaN => {
            let words: &[Word] = match builtin {
                B::IsNaN => &[Word::NaN],
                _ => &[Word::Infinity, Word::NegativeInfinity],
            };
            let is = |word: &Word| crate::values::is_word(m, term, *word);
            m.heap.is_name(term) && words.iter().any(is)
        }
        // There are no such values.
        B::IsDecimal | B::IsRatio | B::IsSymbol | B::IsSorted | B::IsMapEntry => false,
        _ => holds(builtin, class(m, term)),
    };
    Ok(m.heap.boolean(holds))
}

/// Returns whether a predicate holds for all values of a class.
fn holds(builtin: Builtin, class: Class) -> bool {
    use Builtin as B;
    match builtin {
        B::IsNil => class == Class::Nil,
        B::IsSome => class != Class::Nil,
        B::IsBoolean => class == Class::Bool,
        B::IsNumber => matches!(class, Class::Number | Class::Special),
        B::IsString => class == Class::String,
        B::IsKeyword => class == Class::Keyword,
        B::IsSet => class == Class::Set,
        B::IsRegex => class == Class::Regex,
        B::IsMap => class == Class::Map,
        B::IsVector | B::IsSequential | B::IsSeq => class == Class::List,
        B::IsColl => matches!(class, Class::List | Class::Set | Class::Map),
        B::IsAssociative => matches!(class, Class::List | Class::Map),
        B::IsCounted => matches!(class, Class::List | Class::Set | Class::Map | Class::String),
        B::IsIndexed | B::IsReversible => matches!(class, Class::List | Class::String),
        B::IsSeqable => matches!(
            class,
            Class::Nil | Class::List | Class::Set | Class::Map | Class::String
        ),
        B::IsFn => class == Class::Function,
        B::IsIfn => matches!(
            class,
            Class::Function | Class::Keyword | Class::Map | Class::Set
        ),
        _ => false,
    }
}

fn is_integer<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> bool {
    m.heap.small_integer(term).is_some() || m.heap.limbs(term) > 0
}

/// Returns the sign of an integer; `None` for another value.
fn sign<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Option<Sign> {
    if let Some(value) = m.heap.small_integer(term) {
        return Some(match value {
            0 => Sign::NoSign,
            1.. => Sign::Plus,
            _ => Sign::Minus,
        });
    }
    if m.heap.limbs(term) == 0 {
        return None;
    }
    // The sign of a long integer is known without reading it: numbers have an order.
    let zero = m.heap.make_number(Number::Int(0))?;
    Some(match m.heap.compare(term, zero).is_lt() {
        true => Sign::Minus,
        false => Sign::Plus,
    })
}

/// `type`: the keyword of the type; nil for nil.
fn type_of<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> H::Term {
    m.constant(
        match class(m, term) {
            Class::Nil => return m.heap.nil(),
            Class::Bool => Word::Boolean,
            Class::Number | Class::Special => Word::NumberType,
            Class::String => Word::StringType,
            Class::Keyword => Word::KeywordType,
            Class::List => Word::VectorType,
            Class::Map => Word::Map,
            Class::Set => Word::SetType,
            Class::Function => Word::FunctionType,
            Class::Regex => Word::RegexType,
            Class::Tool | Class::Var | Class::Symbol => Word::Unknown,
            Class::Duration | Class::Struct | Class::Opaque => Word::Unknown,
        }
        .id(),
    )
}
