//! The proleptic Gregorian calendar, and ISO 8601 texts in the forms that Elixir reads.

use super::{Clock, Day, Family};

/// Microseconds of a second.
const SECOND: i128 = 1_000_000;
/// Microseconds of a day.
const DAY: i128 = 86_400 * SECOND;

/// Returns the midnight with which a day begins, in microseconds since 1970-01-01 in UTC.
pub fn midnight(day: Day) -> i128 {
    days(day) * DAY
}

/// Returns the number of the day since 1970-01-01. Days that do not exist are counted on, so that
/// valid days keep their order.
fn days(Day { year, month, day }: Day) -> i128 {
    let (year, month, day) = (i128::from(year), i128::from(month), i128::from(day));
    // Years begin in March, so that the leap day is the last one.
    let year = year - i128::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = (month + 9).rem_euclid(12);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns the microseconds since midnight.
pub fn since_midnight(clock: Clock) -> i128 {
    let Clock {
        hour,
        minute,
        second,
        micro,
    } = clock;
    let minutes = i128::from(hour) * 60 + i128::from(minute);
    (minutes * 60 + i128::from(second)) * SECOND + i128::from(micro)
}

/// Returns seconds in microseconds.
pub fn seconds(seconds: i64) -> i128 {
    i128::from(seconds) * SECOND
}

/// Reads an ISO 8601 text: a date, a time, a date and a time, or one with an offset. `None` for
/// every other text.
pub fn read(text: &[u8]) -> Option<(Family, i128)> {
    // The shortest text is 10:00:00, the longest has a sign, an offset and a fraction.
    if text.len() < 8 || !text[0].is_ascii_digit() && !matches!(text[0], b'-' | b'+') {
        return None;
    }
    if text[2] == b':' {
        let (clock, rest) = clock(text)?;
        return rest.is_empty().then_some((Family::Time, clock));
    }
    let (negative, unsigned) = match text[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let ([year, month, day], rest) = numbers(unsigned, [4, 2, 2], b'-')?;
    let year = if negative { -year } else { year };
    (1..=12).contains(&month).then_some(())?;
    (1..=days_in(year, month)).contains(&day).then_some(())?;
    let midnight = midnight(Day { year, month, day });
    let [b'T' | b' ', rest @ ..] = rest else {
        return rest.is_empty().then_some((Family::Date, midnight));
    };
    let (clock, rest) = clock(rest)?;
    if rest.is_empty() {
        return Some((Family::NaiveDateTime, midnight + clock));
    }
    Some((Family::DateTime, midnight + clock - offset(rest)?))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Reads numbers with these counts of digits, and a separator between them.
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
fn clock(text: &[u8]) -> Option<(i128, &[u8])> {
    let ([hour, minute, second], mut rest) = numbers(text, [2, 2, 2], b':')?;
    (hour < 24 && minute < 60 && second < 60).then_some(())?;
    let mut micro = 0;
    if let [b'.' | b',', fraction @ ..] = rest {
        let digits = fraction
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        (digits > 0).then_some(())?;
        let (fraction, more) = fraction.split_at(digits);
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
    };
    Some((since_midnight(clock), rest))
}

/// Reads an offset from UTC: `Z`, `+02:00`, `+0200` or `+02`.
fn offset(text: &[u8]) -> Option<i128> {
    let (negative, rest) = match text {
        b"Z" => return Some(0),
        [b'+', rest @ ..] => (false, rest),
        [b'-', rest @ ..] => (true, rest),
        _ => return None,
    };
    let (digits, count): ([u8; 4], usize) = match *rest {
        [a, b] => ([a, b, b'0', b'0'], 2),
        [a, b, c, d] | [a, b, b':', c, d] => ([a, b, c, d], 4),
        _ => return None,
    };
    let ([hours, minutes], _) = numbers(
        &[digits[0], digits[1], b':', digits[2], digits[3]],
        [2, 2],
        b':',
    )?;
    (hours < 24 && minutes < 60).then_some(())?;
    let offset = seconds((hours * 60 + minutes) * 60);
    // -00:00 says that the offset is not known.
    match (negative, offset) {
        (true, 0) if count > 0 => None,
        (true, _) => Some(-offset),
        (false, _) => Some(offset),
    }
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
            "10:00:00",
            "23:59:59,5",
        ] {
            assert!(read(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-1-1",
            "2024-01-01x",
            "2024-01-01T10:00",
            "2024-01-01T24:00:00",
            "2024-01-01T10:00:00-00:00",
            "2024-01-01T10:00:00.Z",
            "2024-01-01T10:00:00+24:00",
            "10:00:00Z",
            "10:00",
            "12345678",
            "--------",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn days_are_counted_from_1970() {
        let day = |year, month, day| days(Day { year, month, day });
        assert_eq!(day(1970, 1, 1), 0);
        assert_eq!(day(2000, 3, 1), 11_017);
        assert_eq!(day(0, 1, 1), -719_528);
        assert_eq!(day(-1, 12, 31), -719_529);
        assert_eq!(day(2024, 12, 31) - day(2023, 12, 31), 366);
    }
}
