//! Differences between moments, and sums of a moment and a number of units.

use crate::iso::Day;
use crate::moment::{date, Moment, DAY, SECOND};
use crate::write::{put_clock, put_date, LONGEST};
use std::cmp::Ordering;
use time::{Date, Month};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Twelve months.
    Year,
    /// A month of the calendar.
    Month,
    /// Seven days.
    Week,
    /// 24 hours.
    Day,
    /// 60 minutes.
    Hour,
    /// 60 seconds.
    Minute,
    /// A second.
    Second,
}

/// Units are months or microseconds.
enum Length {
    Months(i64),
    Micros(i64),
}

impl Unit {
    /// All units with their names, the largest first.
    pub const ALL: [(&'static str, Unit); 7] = [
        ("year", Unit::Year),
        ("month", Unit::Month),
        ("week", Unit::Week),
        ("day", Unit::Day),
        ("hour", Unit::Hour),
        ("minute", Unit::Minute),
        ("second", Unit::Second),
    ];

    fn length(self) -> Length {
        match self {
            Unit::Year => Length::Months(12),
            Unit::Month => Length::Months(1),
            Unit::Week => Length::Micros(7 * DAY),
            Unit::Day => Length::Micros(DAY),
            Unit::Hour => Length::Micros(3_600 * SECOND),
            Unit::Minute => Length::Micros(60 * SECOND),
            Unit::Second => Length::Micros(SECOND),
        }
    }
}

/// Returns the number of whole units from one moment to the other, towards zero; negative if `to` is
/// earlier. Months are those of the calendar in UTC: one is whole when the day and the time of `from` are reached,
/// or that time on the last day of a month that is too short for the day.
pub fn difference(from: &Moment, to: &Moment, unit: Unit) -> i64 {
    let (from, to) = (from.in_utc(), to.in_utc());
    match unit.length() {
        Length::Micros(length) => ((to.0 - from.0) * DAY + to.1 - from.1) / length,
        Length::Months(length) => months(from, to) / length,
    }
}

/// Returns the number of whole months between two points in UTC.
fn months(from: (i64, i64), to: (i64, i64)) -> i64 {
    let (Some(first), Some(last)) = (of_number(from.0), of_number(to.0)) else {
        return 0; // not possible: the years of points are in those of the calendar
    };
    let count = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month() as u8) - 1;
    let all = count(last) - count(first);
    // The day of `from` in the month of `to`.
    let day = first.day().min(last.month().length(last.year()));
    let left = (last.day(), to.1).cmp(&(day, from.1));
    match (all.signum(), left) {
        (1, Ordering::Less) => all - 1,
        (-1, Ordering::Greater) => all + 1,
        _ => all,
    }
}

fn of_number(day: i64) -> Option<Date> {
    Date::from_julian_day(i32::try_from(day).ok()?).ok()
}

/// Returns the text of a moment that is `amount` units later: a date or a time of the same form, in the same
/// offset, with the same fraction. A date and a unit that is shorter than a day become a date and a time in UTC. Months keep
/// the day, or take the last one of the month. `None` if the text is no moment, or if the sum has a year
/// beyond [`crate::YEARS`].
pub fn add(text: &[u8], amount: i64, unit: Unit) -> Option<Vec<u8>> {
    let moment = Moment::read(text)?;
    let (date, micros) = match unit.length() {
        Length::Months(length) => {
            let date = later(moment.date, amount.checked_mul(length)?)?;
            (date, moment.micros())
        }
        Length::Micros(length) => {
            let micros = amount.checked_mul(length)?.checked_add(moment.micros())?;
            let day = i64::from(moment.date.to_julian_day()).checked_add(micros.div_euclid(DAY))?;
            (of_number(day)?, micros.rem_euclid(DAY))
        }
    };
    crate::YEARS
        .contains(&i64::from(date.year()))
        .then_some(())?;
    let mut sum = Vec::with_capacity(LONGEST.max(text.len()));
    put_date(&mut sum, date);
    let day = usize::from(!text[0].is_ascii_digit()) + 10;
    match (moment.time, unit.length()) {
        (None, Length::Micros(..DAY)) => {
            sum.push(b'T');
            put_clock(&mut sum, micros / SECOND);
            sum.push(b'Z');
        }
        (None, _) => {}
        (Some(_), _) => {
            sum.push(text[day]);
            put_clock(&mut sum, micros / SECOND);
            // No unit is shorter than a second.
            sum.extend_from_slice(&text[day + 9..]);
        }
    }
    Some(sum)
}

/// Returns the date a number of months later.
fn later(from: Date, months: i64) -> Option<Date> {
    let month = i64::from(from.month() as u8) - 1;
    let all = (i64::from(from.year()) * 12 + month).checked_add(months)?;
    let (year, month) = (all.div_euclid(12), all.rem_euclid(12) + 1);
    crate::YEARS.contains(&year).then_some(())?;
    let most = Month::try_from(month as u8).ok()?.length(year as i32);
    let day = i64::from(from.day().min(most));
    date(Day { year, month, day })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &str, to: &str, unit: Unit) -> i64 {
        let read = |text: &str| Moment::read(text.as_bytes()).unwrap();
        difference(&read(from), &read(to), unit)
    }

    fn sum(text: &str, amount: i64, unit: Unit) -> Option<String> {
        add(text.as_bytes(), amount, unit).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn months_are_whole_when_the_day_and_the_time_are_reached() {
        for (from, to, months) in [
            ("2024-01-15", "2024-03-20", 2),
            ("2024-03-20", "2024-01-15", -2),
            ("2024-01-31", "2024-02-29", 1),
            ("2023-01-31", "2023-02-28", 1),
            ("2024-01-31", "2024-02-28", 0),
            ("2024-01-31", "2024-03-30", 1),
            ("2024-03-31", "2024-02-29", -1),
            ("2024-02-29", "2024-01-31", 0),
            ("2024-02-29", "2025-02-28", 12),
            ("2024-01-15T12:00:00Z", "2024-02-15T11:59:59Z", 0),
            ("2024-01-31T12:00:00Z", "2024-02-29T11:59:59Z", 0),
            ("2024-02-15T11:59:59Z", "2024-01-15T12:00:00Z", 0),
            ("2024-02-15T12:00:00Z", "2024-01-15T12:00:00Z", -1),
            // 2024-02-01 in UTC
            ("2024-01-01", "2024-01-31T23:00:00-05:00", 1),
            (
                "0000-01-01T00:00:00+05:00",
                "9999-12-31T23:59:59-05:00",
                120_000,
            ),
        ] {
            assert_eq!(between(from, to, Unit::Month), months, "{from} {to}");
            assert_eq!(between(from, to, Unit::Year), months / 12, "{from} {to}");
        }
    }

    #[test]
    fn differences_are_towards_zero() {
        let (from, to) = ("2024-01-15T12:00:00.5Z", "2024-01-15T12:00:02.4Z");
        assert_eq!(between(from, to, Unit::Second), 1);
        assert_eq!(between(to, from, Unit::Second), -1);
        assert_eq!(
            between("2024-01-15T12:00:00", "2024-01-14T13:00:00Z", Unit::Day),
            0
        );
        assert_eq!(between("2023-03-01", "2024-03-01", Unit::Week), 52);
        assert_eq!(
            between("0000-01-01", "9999-12-31", Unit::Second),
            315_569_433_600
        );
    }

    #[test]
    fn sums_keep_the_form() {
        for (text, amount, unit, expected) in [
            ("2024-02-28", 1, Unit::Day, "2024-02-29"),
            ("2024-01-31", 1, Unit::Month, "2024-02-29"),
            ("2024-03-31", -1, Unit::Month, "2024-02-29"),
            ("2024-02-29", -4, Unit::Year, "2020-02-29"),
            ("2024-02-29", 1, Unit::Year, "2025-02-28"),
            ("2024-02-29", -90, Unit::Second, "2024-02-28T23:58:30Z"),
            ("2024-02-29", 0, Unit::Hour, "2024-02-29T00:00:00Z"),
            (
                "2024-02-29T23:30:15.250-05:00",
                1,
                Unit::Hour,
                "2024-03-01T00:30:15.250-05:00",
            ),
            (
                "2024-02-29 23:30:15,2500000001+0200",
                1,
                Unit::Week,
                "2024-03-07 23:30:15,2500000001+0200",
            ),
            (
                "2024-02-29T10:30:00",
                12,
                Unit::Month,
                "2025-02-28T10:30:00",
            ),
            (
                "+2024-02-29T10:30:00Z",
                1,
                Unit::Minute,
                "2024-02-29T10:31:00Z",
            ),
            ("0000-01-01", 3_652_424, Unit::Day, "9999-12-31"),
        ] {
            assert_eq!(sum(text, amount, unit).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn sums_end_with_the_last_year() {
        for (text, amount, unit) in [
            ("9999-12-31", 1, Unit::Day),
            ("9999-12-31T23:59:59Z", 1, Unit::Second),
            ("9999-12-31", 1, Unit::Month),
            ("0000-01-01", -1, Unit::Year),
            ("0000-01-01", -1, Unit::Second),
        ] {
            assert_eq!(sum(text, amount, unit), None, "{text}");
        }
        for (_, unit) in Unit::ALL {
            assert_eq!(sum("2024-01-01T10:00:00Z", i64::MAX, unit), None);
            assert_eq!(sum("2024-01-01", i64::MIN, unit), None);
        }
    }

    #[test]
    fn a_difference_in_months_can_be_added() {
        // Every day of 800 days against every 17th.
        let day = |number: i64| sum("2023-01-01", number, Unit::Day).unwrap();
        for first in 0..800 {
            for last in (0..800).step_by(17) {
                let (from, to) = (day(first), day(last));
                let months = between(&from, &to, Unit::Month);
                let reached = sum(&from, months, Unit::Month).unwrap();
                let next = sum(&from, months + (last - first).signum(), Unit::Month).unwrap();
                match first <= last {
                    true => assert!(reached <= to && (to < next || first == last), "{from} {to}"),
                    false => assert!(reached >= to && to > next, "{from} {to}"),
                }
            }
        }
    }
}
