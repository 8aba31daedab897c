//! Dates, times, decimals and names, which are values where a program reads structs as values.
//!
//! The heap says what a map is ([`Form`]) and gives the parts of a value ([`Value`]). From these, from
//! numbers and from ISO 8601 texts a [`Meaning`] is made, which is plain data: values are compared and
//! hashed by it.
//!
//! * `decimal`: decimals of any size, and their texts
//! * `exact`: arithmetic on decimals
//! * `iso`: dates and times as points of a timeline
//! * `text`: names as texts

mod as_number;
mod decimal;
mod exact;
mod iso;
mod text;

pub use decimal::{Decimal, LONGEST_DECIMAL};
pub use exact::{Exact, TooLong, MOST_LIMBS};
pub use iso::read as read_iso;
pub use ptc_date::{text_of as text_of_iso, Clock, Day, Iso};
pub use text::{hash_of_text, order_of_name, with_text};

use crate::heap::{Heap, Kind};
use std::cmp::Ordering;

/// What a map is where structs are read as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A map that is not a struct.
    Plain,
    /// A struct: a map of its fields.
    Struct,
    /// An association that is not loaded: `nil`.
    Unloaded,
    /// A date, a time or a decimal.
    Value,
}

/// The coefficient of a decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient<T> {
    /// An integer that is not negative, as a term.
    Integer(T),
    /// `:inf`
    Infinite,
    /// `:NaN`
    NotANumber,
}

/// The parts of a term whose form is [`Form::Value`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<T> {
    /// A date or a time.
    Iso(Iso),
    /// A decimal: its sign, its coefficient and its exponent.
    Decimal {
        /// Whether it is negative.
        negative: bool,
        /// Its digits.
        coefficient: Coefficient<T>,
        /// The power of ten.
        exponent: i64,
    },
    /// A value of another calendar, or one whose fields are not what its module promises. It is
    /// compared by its fields.
    Opaque,
}

/// The kind of a meaning. Those before [`Family::Time`] are on one timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A date, which is midnight in UTC on the timeline.
    Date,
    /// A date and a time without an offset, which is in UTC on the timeline.
    NaiveDateTime,
    /// An instant.
    DateTime,
    /// A time of day.
    Time,
}

/// What a value is compared by.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// A number, exactly. It stands where numbers stand in term order.
    Number(Decimal),
    /// A point on the timeline, or of the day, in microseconds. It comes after all other terms.
    Moment(Family, i128),
}

/// A set of kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindSet(u8);

impl KindSet {
    /// Decimals.
    pub const DECIMAL: KindSet = KindSet(1);
    /// Dates, and dates with a time.
    pub const TIMELINE: KindSet = KindSet(2);
    /// Times of day.
    pub const TIME: KindSet = KindSet(4);

    /// Returns whether it has no kind.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether it has all kinds of the other set.
    pub fn has(self, other: KindSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the kinds of both sets.
    pub fn with(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }
}

impl Family {
    fn kinds(self) -> KindSet {
        match self {
            Family::Time => KindSet::TIME,
            Family::Date | Family::NaiveDateTime | Family::DateTime => KindSet::TIMELINE,
        }
    }
}

impl<T> Value<T> {
    /// Returns the kind of the value; an opaque one has none.
    pub fn kinds(&self) -> KindSet {
        match self {
            Value::Opaque => KindSet::default(),
            Value::Decimal { .. } => KindSet::DECIMAL,
            Value::Iso(iso) => iso::family(*iso).kinds(),
        }
    }
}

impl Meaning {
    /// Returns the meaning of a value; `None` for an opaque one.
    pub fn of_value<H: Heap>(heap: &H, value: Value<H::Term>) -> Option<Meaning> {
        Some(match value {
            Value::Iso(iso) => {
                let (family, point) = iso::point(iso);
                Meaning::Moment(family, point)
            }
            Value::Decimal {
                negative,
                coefficient,
                exponent,
            } => Meaning::Number(match coefficient {
                Coefficient::Infinite => Decimal::infinite(negative),
                Coefficient::NotANumber => Decimal::NOT_A_NUMBER,
                Coefficient::Integer(term) => {
                    Decimal::scaled(negative, heap.number(term)?, exponent)?
                }
            }),
            Value::Opaque => return None,
        })
    }

    /// Returns the meaning of a number or a text at a place where there are values of these kinds:
    /// that of a number among decimals, of an ISO 8601 text among dates or times, of a text of a
    /// number among decimals. A name is a text.
    pub fn among<H: Heap>(heap: &H, term: H::Term, kind: Kind, kinds: KindSet) -> Option<Meaning> {
        match kind {
            Kind::Number if kinds.has(KindSet::DECIMAL) => {
                Decimal::of_number(heap.number(term)?).map(Meaning::Number)
            }
            Kind::String if heap.byte_length(term)? > LONGEST_DECIMAL => None,
            _ => with_text(heap, term, |text| Meaning::of_text(text, kinds)).flatten(),
        }
    }

    fn of_text(text: &[u8], kinds: KindSet) -> Option<Meaning> {
        if text.len() > LONGEST_DECIMAL {
            return None;
        }
        if kinds.has(KindSet::DECIMAL) {
            if let Some(decimal) = Decimal::read(text) {
                return Some(Meaning::Number(decimal));
            }
        }
        let (family, point) = iso::read(text)?;
        let read = Meaning::Moment(family, point);
        kinds.has(family.kinds()).then_some(read)
    }

    /// Returns the order of a date or a time and the beginning of the text of one, which comes before all that begins with it.
    /// `None` for other values and texts.
    pub fn order_of_beginning(iso: Iso, text: &[u8]) -> Option<Ordering> {
        let ((of, point), (family, first)) = (iso::point(iso), iso::read_beginning(text)?);
        let before = || match point < first {
            true => Ordering::Less,
            false => Ordering::Greater,
        };
        (of.kinds() == family.kinds()).then(before)
    }

    /// Returns the order of two meanings.
    pub fn order(&self, other: &Meaning) -> Ordering {
        match (self, other) {
            (Meaning::Number(a), Meaning::Number(b)) => a.order(b),
            (Meaning::Number(_), Meaning::Moment(..)) => Ordering::Less,
            (Meaning::Moment(..), Meaning::Number(_)) => Ordering::Greater,
            (Meaning::Moment(a, x), Meaning::Moment(b, y)) => {
                let is_time = |family: &Family| *family == Family::Time;
                let order = is_time(a).cmp(&is_time(b));
                order.then(x.cmp(y)).then(a.cmp(b))
            }
        }
    }

    /// Returns the order of two terms, given their meanings; `None` if neither has one.
    pub fn order_of(a: (Option<&Meaning>, Kind), b: (Option<&Meaning>, Kind)) -> Option<Ordering> {
        let beside = |meaning: &Meaning, kind: Kind| match (meaning, kind) {
            (Meaning::Moment(..), _) => Ordering::Greater,
            (Meaning::Number(_), Kind::Number) => Ordering::Equal,
            (Meaning::Number(_), _) => Ordering::Less,
        };
        match (a, b) {
            ((Some(a), _), (Some(b), _)) => Some(a.order(b)),
            ((Some(a), _), (None, kind)) => Some(beside(a, kind)),
            ((None, kind), (Some(b), _)) => Some(beside(b, kind).reverse()),
            ((None, _), (None, _)) => None,
        }
    }

    /// Returns a hash that is equal for equal meanings; `seed` makes it unpredictable.
    pub fn hash(&self, seed: u64) -> u64 {
        match self {
            Meaning::Number(decimal) => decimal.hash(seed),
            Meaning::Moment(family, point) => {
                let family = mix(seed, *family as u64 + 1);
                mix(mix(family, *point as u64), (*point >> 64) as u64)
            }
        }
    }

    /// Returns the cost of comparing it, in units of fuel.
    pub fn cost(&self) -> usize {
        match self {
            Meaning::Number(decimal) => decimal.cost(),
            Meaning::Moment(..) => 1,
        }
    }
}

/// Mixes a number into a hash.
pub fn mix(hash: u64, more: u64) -> u64 {
    let product =
        u128::from(hash ^ 0x9E37_79B9_7F4A_7C15) * u128::from(more ^ 0xD6E8_FEB8_6659_FD93);
    let folded = (product as u64) ^ ((product >> 64) as u64);
    (folded ^ hash.rotate_left(29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ folded >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_comes_before_all_that_begins_with_it() {
        let order = |whole: &str, text: &str| {
            let iso = ptc_date::read(whole.as_bytes()).unwrap();
            Meaning::order_of_beginning(iso, text.as_bytes())
        };
        let (less, greater) = (Some(Ordering::Less), Some(Ordering::Greater));
        assert_eq!(order("2024-01-31", "2024-02"), less);
        assert_eq!(order("2024-02-01", "2024-02"), greater);
        assert_eq!(order("2024-02-29T10:30:00Z", "2024-02-29 10:30"), greater);
        assert_eq!(order("2024-02-29T10:29:59Z", "2024-02-29T10:30Z"), less);
        assert_eq!(order("2024-02-29T10:30:00Z", "2024"), greater);
        assert_eq!(order("10:30:00", "10:30"), greater);
        assert_eq!(order("10:30:00", "2024"), None);
        assert_eq!(order("2024-02-29", "10:30"), None);
        assert_eq!(order("2024-02-29", "today"), None);
    }

    #[test]
    fn moments_are_ordered_by_time_then_by_family() {
        let read = |text: &str| {
            let (family, point) = read_iso(text.as_bytes()).unwrap();
            Meaning::Moment(family, point)
        };
        let ascending = [
            "-0001-12-31",
            "0000-01-01",
            "2024-02-28T23:59:59.999999",
            "2024-02-29",
            "2024-02-29T00:00:00",
            "2024-02-29T02:00:00+02:00",
            "2024-02-29T00:00:00.000001Z",
            "2024-03-01",
            "00:00:00",
            "23:59:59.5",
        ];
        for pair in ascending.windows(2) {
            assert!(read(pair[0]).order(&read(pair[1])).is_lt(), "{pair:?}");
        }
        let same = |a: &str, b: &str| {
            assert!(read(a).order(&read(b)).is_eq(), "{a} {b}");
            assert_eq!(read(a).hash(7), read(b).hash(7), "{a} {b}");
        };
        same("2024-02-29T10:00:00Z", "2024-02-29 12:00:00.000+02:00");
        same("10:00:00", "10:00:00,000");
    }
}
