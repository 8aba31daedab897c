//! A date, or a date and a time, with its offset from UTC.

use crate::iso::{read, Clock, Day, Iso};
use std::ops::RangeInclusive;
use time::{Date, Month};

/// The years that a moment can be in.
pub const YEARS: RangeInclusive<i64> = 0..=9_999;

/// Microseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// A date, or a date and a time, in its own offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub(crate) date: Date,
    /// The microseconds since midnight, and how many digits of the second's fraction are shown; `None`: a
    /// date, which is midnight.
    pub(crate) time: Option<(i64, u8)>,
    /// Seconds; `None`: not given, which is UTC.
    pub(crate) offset: Option<i64>,
}

/// Returns the day, if it exists and its year is one of [`YEARS`].
pub(crate) fn date(day: Day) -> Option<Date> {
    YEARS.contains(&day.year).then_some(())?;
    let month = Month::try_from(u8::try_from(day.month).ok()?).ok()?;
    Date::from_calendar_date(day.year as i32, month, u8::try_from(day.day).ok()?).ok()
}

impl Moment {
    /// Reads an ISO 8601 text; `None` if it is none, and for a time without a date.
    #[inline]
    pub fn read(text: &[u8]) -> Option<Moment> {
        Moment::of(read(text)?)
    }

    /// Returns the moment; `None` if it does not exist, if its year is none of [`YEARS`], and for a time
    /// without a date.
    #[inline]
    pub fn of(iso: Iso) -> Option<Moment> {
        let (day, clock, offset) = match iso {
            Iso::Date(day) => (day, None, None),
            Iso::NaiveDateTime(day, clock) => (day, Some(clock), None),
            Iso::DateTime(day, clock, offset) => (day, Some(clock), Some(offset)),
            Iso::Time(_) => return None,
        };
        let is_offset = offset.is_none_or(|offset| offset.abs() < 86_400);
        is_offset.then_some(())?;
        Some(Moment {
            date: date(day)?,
            time: match clock {
                None => None,
                Some(clock) => Some(since_midnight(clock)?),
            },
            offset,
        })
    }

    /// Returns the microseconds since midnight.
    pub(crate) fn micros(&self) -> i64 {
        self.time.map_or(0, |(micros, _)| micros)
    }

    /// Returns the same moment in UTC: the day's number and the microseconds since midnight. The year may be
    /// the one before or after [`YEARS`].
    pub(crate) fn in_utc(&self) -> (i64, i64) {
        let micros = self.micros() - self.offset.unwrap_or(0) * SECOND;
        let day = i64::from(self.date.to_julian_day()) + micros.div_euclid(DAY);
        (day, micros.rem_euclid(DAY))
    }
}

pub(crate) fn since_midnight(clock: Clock) -> Option<(i64, u8)> {
    let Clock {
        hour,
        minute,
        second,
        micro,
        digits,
    } = clock;
    let exists = (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second)
        && (0..SECOND).contains(&micro)
        && (0..=6).contains(&digits);
    let seconds = (hour.checked_mul(60)?.checked_add(minute)?)
        .checked_mul(60)?
        .checked_add(second)?;
    exists.then_some(())?;
    Some((seconds * SECOND + micro, digits as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_those_of_four_digits() {
        for text in ["0000-01-01", "-0000-01-01", "+9999-12-31"] {
            assert!(Moment::read(text.as_bytes()).is_some(), "{text}");
        }
        assert_eq!(Moment::read(b"-0001-01-01"), None);
        assert_eq!(Moment::read(b"10:00:00"), None);
    }

    #[test]
    fn the_parts_of_a_struct_are_checked() {
        let day = |year, month, day| Moment::of(Iso::Date(Day { year, month, day }));
        assert!(day(2024, 2, 29).is_some());
        for (y, m, d) in [
            (2023, 2, 29),
            (10_000, 1, 1),
            (-1, 1, 1),
            (2024, 0, 1),
            (2024, 258, 1),
            (2024, 1, 257),
            (i64::MIN, i64::MAX, i64::MIN),
        ] {
            assert_eq!(day(y, m, d), None, "{y} {m} {d}");
        }
        let first = Day {
            year: 2024,
            month: 1,
            day: 1,
        };
        let clock = Clock {
            hour: i64::MAX,
            minute: 0,
            second: 0,
            micro: 0,
            digits: 0,
        };
        assert_eq!(Moment::of(Iso::NaiveDateTime(first, clock)), None);
        let clock = Clock { hour: 1, ..clock };
        assert!(Moment::of(Iso::NaiveDateTime(first, clock)).is_some());
        assert_eq!(Moment::of(Iso::DateTime(first, clock, i64::MIN + 1)), None);
    }

    #[test]
    fn the_last_hours_of_the_last_year_are_the_next_year_in_utc() {
        let last = Moment::read(b"9999-12-31T23:59:59-05:00").unwrap();
        let first = Moment::read(b"0000-01-01T00:00:00+05:00").unwrap();
        assert_eq!(last.in_utc().1, 5 * 3_600 * SECOND - SECOND);
        assert_eq!(last.in_utc().0, i64::from(last.date.to_julian_day()) + 1);
        assert_eq!(first.in_utc().0, i64::from(first.date.to_julian_day()) - 1);
    }
}
