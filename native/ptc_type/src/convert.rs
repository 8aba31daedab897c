//! Lenient conversions of values to other types.

use super::check::{decimal_of, is_date, is_date_time, is_decimal};
use super::coerce::{Coerce, Purpose, Question};
use super::findings::Wrong;
use super::lenient;
use super::values::{Class, Values};
use super::walk::{Place, Walk, WalkEnd};
use super::{Scalar, Target};
use num_bigint::BigInt;
use ptc_term::heap::Heap;
use ptc_term::names::ATOM_BYTES;
use ptc_term::number::Number;
use ptc_term::value::{read_iso, Decimal, Family};

/// Maximum number of warnings; a small value with shared parts can cause very many.
const MOST_WARNINGS: usize = 1 << 22;
/// Maximum number of bytes of a value that a warning shows; the same as in `PtcRunner.Shown`.
const SHOWN: usize = 3_800;
/// Maximum length of a date or a decimal that is tried before its type is certain, in bytes.
pub const LONGEST_ISO: usize = 200;
/// Bytes that are copied per unit of fuel.
const COPIED: usize = 64;
/// Bytes of a number that are read per unit of fuel.
const READ: usize = 4;
/// Up to this many digits, reading costs one unit per digit; beyond that, the cost grows with the
/// square.
const DIGITS: usize = 70_000;

pub(super) type Coercion<'c, H> = Walk<'c, H, Coerce<<H as Heap>::Term>>;

impl<H: Values> Coercion<'_, H> {
    /// Converts a value without parts.
    #[inline]
    pub(super) fn converted(
        &mut self,
        scalar: Scalar,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let class = self.heap.class(value);
        let fits = match scalar {
            Scalar::Any => true,
            Scalar::String => class == Class::Bitstring && self.heap.is_binary(value),
            Scalar::Int => class == Class::Integer,
            Scalar::Float => class == Class::Float,
            Scalar::Number => matches!(class, Class::Integer | Class::Float),
            Scalar::Bool => self.heap.is_bool(value),
            Scalar::Keyword => {
                class == Class::Atom
                    || (class == Class::Map && self.heap.keyword_name(value).is_some())
            }
            Scalar::Map if class == Class::Map && self.heap.is_struct(value) => {
                let takes = self.takes_structs();
                self.state.task.took_struct |= takes;
                takes
            }
            Scalar::Map => class == Class::Map,
            Scalar::DateTime => class == Class::Map && is_date_time(&*self.heap, value),
            Scalar::Date => is_date(&*self.heap, value),
            Scalar::Decimal => is_decimal(&*self.heap, value),
        };
        match fits {
            true => Ok(None),
            false => self.other(scalar, class, value, place),
        }
    }

    fn takes_structs(&self) -> bool {
        use super::walk::Task;
        Task::<H>::takes_structs(&self.state.task)
    }

    fn other(
        &mut self,
        scalar: Scalar,
        class: Class,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        match (scalar, class) {
            (Scalar::String, Class::Atom) => {
                let is_literal = self.heap.is_nil(value) || self.heap.is_bool(value);
                if !(is_literal && self.state.task.is_of_json()) {
                    return self.name_of(value).map(Some);
                }
            }
            (Scalar::String, Class::Map) if self.heap.keyword_name(value).is_some() => {
                return self.name_of(value).map(Some)
            }
            (Scalar::String, Class::Map) if self.heap.time_struct(value).is_some() => {
                return self.ask(scalar, value, place)
            }
            (Scalar::String, Class::Map) if is_decimal(&*self.heap, value) => {
                return self.ask(scalar, value, place)
            }
            (Scalar::Int | Scalar::Float, Class::Map) => {
                if let Some(number) = self.number_of_decimal(scalar, value)? {
                    return Ok(Some(number));
                }
            }
            (Scalar::Float, Class::Integer) => {
                if let Some(float) = self.float_of(value)? {
                    return Ok(Some(float));
                }
            }
            (Scalar::Decimal, Class::Integer | Class::Float) => {
                return self.ask(scalar, value, place)
            }
            (Scalar::DateTime | Scalar::Date | Scalar::Decimal, Class::Bitstring)
                if self.heap.is_binary(value) =>
            {
                return self.ask(scalar, value, place)
            }
            (_, Class::Bitstring) if self.heap.is_binary(value) => {
                if let Some(other) = self.text(scalar, value, place)? {
                    return Ok(Some(other));
                }
            }
            _ => {}
        }
        self.refuse(place, Target::Scalar(scalar), value)?;
        Ok(None)
    }

    /// Converts a decimal that is exactly such a number, with a warning; `None` for any other value.
    #[cold]
    fn number_of_decimal(
        &mut self,
        scalar: Scalar,
        value: H::Term,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let Some(decimal) = decimal_of(&*self.heap, value) else {
            return Ok(None);
        };
        self.consume_fuel(8 + decimal.cost())?;
        let (number, warning) = match scalar {
            Scalar::Int => (decimal.as_integer(), b"coerced Decimal to integer" as &[u8]),
            _ => (
                decimal.as_float().map(Number::Float),
                b"coerced Decimal to float" as &[u8],
            ),
        };
        let number = number.and_then(|number| self.heap.make_number(number));
        if number.is_some() {
            let warning = self.heap.make_string(warning);
            self.warn(warning)?;
        }
        Ok(number)
    }

    /// Converts an integer to a float; `None` if the float would not be finite.
    fn float_of(&mut self, value: H::Term) -> Result<Option<H::Term>, WalkEnd> {
        self.consume_fuel(3)?;
        if let Some(small) = self.heap.small_integer(value) {
            return Ok(self.heap.make_number(Number::Float(small as f64)));
        }
        // Integers beyond these bounds need no look at their digits.
        let (least, most) = match self.state.task.scratch.beyond_floats {
            Some(bounds) => bounds,
            None => {
                let beyond = BigInt::from(1) << 1024;
                let heap = &mut *self.heap;
                let mut bound = |bound| heap.make_number(Number::from_big(bound));
                let (Some(least), Some(most)) = (bound(-&beyond), bound(beyond)) else {
                    return Ok(None);
                };
                *self.state.task.scratch.beyond_floats.insert((least, most))
            }
        };
        let heap = &mut *self.heap;
        if heap.compare(value, least).is_le() || heap.compare(value, most).is_ge() {
            return Ok(None);
        }
        let number = heap.number(value).and_then(|number| number.to_float().ok());
        Ok(number.and_then(|float| heap.make_number(Number::Float(float))))
    }

    /// Converts a text, with a warning.
    fn text(
        &mut self,
        scalar: Scalar,
        text: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let length = self.heap.byte_length(text).unwrap_or(0);
        let to_copy = self.heap.bytes_to_copy(text);
        self.consume_fuel(10 + length / COPIED + to_copy / READ)?;
        let (value, target) = match scalar {
            Scalar::Int | Scalar::Number => {
                let digits = length.min(lenient::MOST_DIGITS);
                self.consume_fuel(length / READ + digits * digits / DIGITS)?;
                let bytes = self.heap.bytes(text);
                let number = bytes.and_then(lenient::integer);
                let number = match (scalar, number) {
                    // The text of an integer stays one, with each of its digits.
                    (Scalar::Number, None) => bytes.and_then(lenient::float).map(Number::Float),
                    (_, number) => number,
                };
                let target = match (scalar, &number) {
                    (Scalar::Number, Some(Number::Float(_))) => "float",
                    _ => "integer",
                };
                (
                    number.and_then(|number| self.heap.make_number(number)),
                    target,
                )
            }
            Scalar::Float => {
                self.consume_fuel(length / READ)?;
                let float = self.heap.bytes(text).and_then(lenient::float);
                let number = float.map(Number::Float);
                let number = number.and_then(|number| self.heap.make_number(number));
                (number, "float")
            }
            Scalar::Bool => {
                let value = match self.heap.bytes(text) {
                    Some(b"true") => Some(self.heap.boolean(true)),
                    Some(b"false") => Some(self.heap.boolean(false)),
                    _ => None,
                };
                (value, "boolean")
            }
            Scalar::Keyword if length > ATOM_BYTES => (None, "keyword"),
            Scalar::Keyword => {
                let name = self.heap.bytes(text);
                (
                    name.and_then(|name| self.heap.existing_atom(name)),
                    "keyword",
                )
            }
            Scalar::DateTime | Scalar::Date | Scalar::Decimal => return Ok(None),
            Scalar::String | Scalar::Any | Scalar::Map => return Ok(None),
        };
        if value.is_some() {
            self.warn_of_text(text, target.as_bytes(), place)?;
        }
        Ok(value)
    }

    /// Adds the warning that a text has become this.
    pub(super) fn warn_of_text(
        &mut self,
        text: H::Term,
        target: &[u8],
        place: Option<Place>,
    ) -> Result<(), WalkEnd> {
        let hidden = self.is_hidden(place);
        let scratch = &mut self.state.task.scratch.text;
        scratch.clear();
        scratch.extend_from_slice(b"coerced string ");
        if !hidden {
            scratch.push(b'"');
            put_shown(scratch, self.heap.bytes(text).unwrap_or_default());
            scratch.extend_from_slice(b"\" ");
        }
        scratch.extend_from_slice(b"to ");
        scratch.extend_from_slice(target);
        let warning = self.heap.make_string(scratch);
        self.warn(warning)
    }

    pub(super) fn warn(&mut self, warning: H::Term) -> Result<(), WalkEnd> {
        self.state.task.warnings.push(warning);
        match self.state.task.warnings.len() > MOST_WARNINGS {
            true => Err(WalkEnd::TooMuch),
            false => Ok(()),
        }
    }

    /// Returns the name of an atom or of a keyword of PTC-Lisp.
    fn name_of(&mut self, keyword: H::Term) -> Result<H::Term, WalkEnd> {
        self.consume_fuel(8)?;
        let heap = &mut *self.heap;
        let scratch = &mut self.state.task.scratch;
        let warning = *scratch
            .keyword_to_string
            .get_or_insert_with(|| heap.make_string(b"coerced keyword to string"));
        let name = match heap.keyword_name(keyword) {
            Some(name) => name,
            None => {
                scratch.text.clear();
                heap.put_atom_name(keyword, &mut scratch.text);
                heap.make_string(&scratch.text)
            }
        };
        self.warn(warning)?;
        Ok(name)
    }

    /// Takes Elixir's answer, or asks the question.
    #[cold]
    pub(super) fn ask(
        &mut self,
        scalar: Scalar,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        self.consume_fuel(8)?;
        // In a trial, a question is only asked if its answer is known to be positive.
        if self.state.is_trial() && !self.will_convert(scalar, value) {
            return Err(WalkEnd::Refuted);
        }
        let next = self
            .state
            .task
            .answers
            .and_then(|answers| self.heap.uncons(answers));
        let Some((answer, more)) = next else {
            let hidden = self.is_hidden(place);
            self.state.task.questions.push(Question { scalar, hidden });
            self.state.task.asked.push(value);
            return Ok(None);
        };
        self.state.task.answers = Some(more);
        match self.heap.tuple(answer).unwrap_or_default() {
            [_, other, warnings] => {
                let (other, mut rest) = (*other, *warnings);
                while let Some((warning, tail)) = self.heap.uncons(rest) {
                    self.state.task.warnings.push(warning);
                    rest = tail;
                }
                Ok(Some(other))
            }
            [_, reason] if self.purpose() == Purpose::Coerce => {
                let reason = *reason;
                self.report(place, Wrong::Answered, Some(reason))?;
                Ok(None)
            }
            _ => {
                self.refuse(place, Target::Scalar(scalar), value)?;
                Ok(None)
            }
        }
    }

    fn will_convert(&self, scalar: Scalar, value: H::Term) -> bool {
        let text = self.heap.bytes(value);
        let text = text.filter(|text| text.len() <= LONGEST_ISO);
        match (scalar, text) {
            (Scalar::Decimal, None) => self.heap.class(value) != Class::Bitstring,
            (Scalar::Decimal, Some(text)) => {
                Decimal::read(text).is_some_and(|decimal| decimal.is_finite())
            }
            (Scalar::Date, Some(text)) => {
                matches!(read_iso(text), Some((Family::Date, _)))
            }
            (Scalar::DateTime, Some(text)) => {
                matches!(read_iso(text), Some((Family::DateTime, _)))
            }
            (Scalar::String | Scalar::Map, _) => true,
            _ => false,
        }
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.state.task.purpose()
    }
}

/// Writes a text, or its beginning and its size.
pub(super) fn put_shown(out: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= SHOWN {
        return out.extend_from_slice(text);
    }
    let note = format!("… ({} bytes)", text.len());
    let mut end = SHOWN - note.len();
    // Does not split a UTF-8 character.
    let inside = |end: usize| matches!(text[end], 0x80..=0xBF);
    end -= (0..3).take_while(|step| inside(end - step)).count();
    out.extend_from_slice(&text[..end]);
    out.extend_from_slice(note.as_bytes());
}
