//! ISO 8601 texts in the forms that Elixir reads.

use time::Month;

/// A day of the calendar, as given; it may not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// The year; it may be negative.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

/// A time of day, as given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The hour, from 0.
    pub hour: i64,
    /// The minute.
    pub minute: i64,
    /// The second.
    pub second: i64,
    /// The microsecond.
    pub micro: i64,
    /// The number of digits of the second's fraction that are shown, up to 6.
    pub digits: i64,
}

/// A date or a time of the ISO calendar, as given; it may not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iso {
    /// `2024-02-29`
    Date(Day),
    /// `10:30:00`
    Time(Clock),
    /// `2024-02-29T10:30:00`
    NaiveDateTime(Day, Clock),
    /// `2024-02-29T10:30:00+02:00`; the offset in seconds.
    DateTime(Day, Clock, i64),
}

impl Clock {
    /// Returns the microseconds since midnight.
    pub fn micros(self) -> i128 {
        let minutes = i128::from(self.hour) * 60 + i128::from(self.minute);
        (minutes * 60 + i128::from(self.second)) * 1_000_000 + i128::from(self.micro)
    }
}

/// Reads a date, a time, a date and a time, or one with an offset. `None` for every other text. The days
/// and the times that it returns exist. Linear in the digits of the fraction.
#[inline]
pub fn read(text: &[u8]) -> Option<Iso> {
    // The shortest text is 10:00:00.
    if text.len() < 8 || !text[0].is_ascii_digit() && !matches!(text[0], b'-' | b'+') {
        return None;
    }
    if text[2] == b':' {
        let (clock, rest) = clock(text)?;
        return rest.is_empty().then_some(Iso::Time(clock));
    }
    let (day, rest) = day(text)?;
    let [b'T' | b' ', rest @ ..] = rest else {
        return rest.is_empty().then_some(Iso::Date(day));
    };
    let (clock, rest) = clock(rest)?;
    if rest.is_empty() {
        return Some(Iso::NaiveDateTime(day, clock));
    }
    Some(Iso::DateTime(day, clock, offset(rest)?))
}

/// Bytes of the longest text that [`read_beginning`] reads: `2024-02-29T10:30+02:00`.
const LONGEST_BEGINNING: usize = 22;

/// Reads the beginning of an ISO 8601 text as the first moment that has it: a year, a year and a month, or what has only the hour,
/// or the hour and the minute, of a time. `None` for every other text, also for a whole one.
pub fn read_beginning(text: &[u8]) -> Option<Iso> {
    let date = "0000-00-00T".len();
    // Of the time of day there are these bytes; an offset can follow.
    let clock = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b':';
        rest.iter().take_while(is_part).count()
    };
    let (end, more): (usize, &[u8]) = match text.len() {
        4 => (4, b"-01-01"),
        7 => (7, b"-01"),
        5 => (5, b":00"),
        13..=LONGEST_BEGINNING => match clock(date) {
            2 => (date + 2, b":00:00"),
            5 => (date + 5, b":00"),
            _ => return None,
        },
        _ => return None,
    };
    let (known, offset) = text.split_at(end);
    read(&[known, more, offset].concat())
}

#[inline]
fn day(text: &[u8]) -> Option<(Day, &[u8])> {
    let (negative, unsigned) = match text[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let ([year, month, day], rest) = numbers(unsigned, [4, 2, 2], b'-')?;
    let year = if negative { -year } else { year };
    let most = match day {
        // Every month has these.
        1..=28 => 28,
        _ => Month::try_from(month as u8).ok()?.length(year as i32),
    };
    let exists = (1..=12).contains(&month) && (1..=i64::from(most)).contains(&day);
    exists.then_some((Day { year, month, day }, rest))
}

/// Reads numbers with these counts of digits, and a separator between them.
#[inline]
fn numbers<const N: usize>(
    text: &[u8],
    digits: [usize; N],
    separator: u8,
) -> Option<([i64; N], &[u8])> {
    let (mut read, mut rest) = ([0; N], text);
    for (place, count) in digits.into_iter().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix(&[separator])?;
        }
        let (number, more) = rest.split_at_checked(count)?;
        number.iter().all(u8::is_ascii_digit).then_some(())?;
        read[place] = number
            .iter()
            .fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0'));
        rest = more;
    }
    Some((read, rest))
}

/// Reads a time of day, with an optional fraction of which six digits count.
fn clock(text: &[u8]) -> Option<(Clock, &[u8])> {
    let ([hour, minute, second], mut rest) = numbers(text, [2, 2, 2], b':')?;
    (hour < 24 && minute < 60 && second < 60).then_some(())?;
    let (mut micro, mut digits) = (0, 0);
    if let [b'.' | b',', fraction @ ..] = rest {
        let all = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        (all > 0).then_some(())?;
        digits = all.min(6) as i64;
        let (fraction, more) = fraction.split_at(all);
        for place in 0..6 {
            let digit = fraction.get(place).map_or(0, |digit| digit - b'0');
            micro = 10 * micro + i64::from(digit);
        }
        rest = more;
    }
    let clock = Clock {
        hour,
        minute,
        second,
        micro,
        digits,
    };
    Some((clock, rest))
}

/// Reads an offset from UTC: `Z`, `+02:00`, `+0200` or `+02`. Returns seconds.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        b"Z" => return Some(0),
        // It says that the offset is not known.
        b"-00:00" => return None,
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digits: [u8; 5] = match *rest {
        [a, b] => [a, b, b':', b'0', b'0'],
        [a, b, c, d] | [a, b, b':', c, d] => [a, b, b':', c, d],
        _ => return None,
    };
    let ([hours, minutes], _) = numbers(&digits, [2, 2], b':')?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_elixir_reads() {
        for text in [
            "2024-02-29",
            "-0001-01-01",
            "+2024-01-01",
            "2024-01-01T10:00:00",
            "2024-01-01 10:00:00.1",
            "2024-01-01T10:00:00.123456789Z",
            "2024-01-01T10:00:00+02",
            "2024-01-01T10:00:00-0230",
            "2024-01-01T10:00:00-0000",
            "10:00:00",
            "23:59:59,5",
        ] {
            assert!(read(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "",
            "2024",
            "2023-02-29",
            "1900-02-29",
            "2024-00-10",
            "2024-13-01",
            "2024-01-00",
            "2024-04-31",
            "2024-1-1",
            "2024-01-01x",
            "2024-01-01t10:00:00",
            "2024-01-01T10:00",
            "2024-01-01T24:00:00",
            "2024-01-01T23:59:60",
            "2024-01-01T10:00:00-00:00",
            "2024-01-01T10:00:00.Z",
            "2024-01-01T10:00:00z",
            "2024-01-01T10:00:00+24:00",
            "2024-01-01T10:00:00++1",
            "2024-01-01Z",
            "10:00:00Z",
            "10:00",
            "12345678",
            "--------",
            "20240229",
            "2024-W09-4",
            "2024-060",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn beginnings_are_the_first_moments_that_have_them() {
        for (text, whole) in [
            ("2024", "2024-01-01"),
            ("2024-02", "2024-02-01"),
            ("10:30", "10:30:00"),
            ("2024-02-29T10", "2024-02-29T10:00:00"),
            ("2024-02-29 10:30", "2024-02-29T10:30:00"),
            ("2024-02-29T10Z", "2024-02-29T10:00:00Z"),
            ("2024-02-29T10:30+02:00", "2024-02-29T10:30:00+02:00"),
        ] {
            assert_eq!(read_beginning(text.as_bytes()), read(whole.as_bytes()));
            assert!(read_beginning(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "",
            "202",
            "20245",
            "2024-",
            "2024-2",
            "2024-13",
            "2024-02-2",
            "2024-02-29",
            "2024-02-30T10",
            "2024-02-29T",
            "2024-02-29T1",
            "2024-02-29T10:3",
            "2024-02-29T10:30:00",
            "2024-02-29x10:30",
            "2024-02-29T10:30x",
            "10:3",
            "25:30",
            "today",
            "é24",
            "zzz",
        ] {
            assert_eq!(read_beginning(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn six_digits_of_a_fraction_count() {
        let micro = |text: &str| match read(text.as_bytes()) {
            Some(Iso::Time(clock)) => (clock.micro, clock.digits),
            _ => (-1, -1),
        };
        assert_eq!(micro("10:00:00"), (0, 0));
        assert_eq!(micro("10:00:00.5"), (500_000, 1));
        assert_eq!(micro("10:00:00,1234567"), (123_456, 6));
    }
}
