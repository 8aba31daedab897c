//! Dates and times as points of a timeline, in the proleptic Gregorian calendar.

use super::Family;
use ptc_date::{Day, Iso};

/// Microseconds of a second.
const SECOND: i128 = 1_000_000;
/// Microseconds of a day.
const DAY: i128 = 86_400 * SECOND;

/// Returns the midnight with which a day begins, in microseconds since 1970-01-01 in UTC.
fn midnight(day: Day) -> i128 {
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

/// Returns the kind of a date or a time.
pub fn family(iso: Iso) -> Family {
    match iso {
        Iso::Date(_) => Family::Date,
        Iso::Time(_) => Family::Time,
        Iso::NaiveDateTime(..) => Family::NaiveDateTime,
        Iso::DateTime(..) => Family::DateTime,
    }
}

/// Returns the kind of a date or a time, and its point on the timeline or in the day.
pub fn point(iso: Iso) -> (Family, i128) {
    let point = match iso {
        Iso::Date(day) => midnight(day),
        Iso::Time(clock) => clock.micros(),
        Iso::NaiveDateTime(day, clock) => midnight(day) + clock.micros(),
        Iso::DateTime(day, clock, offset) => {
            midnight(day) + clock.micros() - i128::from(offset) * SECOND
        }
    };
    (family(iso), point)
}

/// Reads an ISO 8601 text: a date, a time, a date and a time, or one with an offset. `None` for
/// every other text.
pub fn read(text: &[u8]) -> Option<(Family, i128)> {
    ptc_date::read(text).map(point)
}

/// Reads the beginning of an ISO 8601 text as the first moment that has it.
pub fn read_beginning(text: &[u8]) -> Option<(Family, i128)> {
    ptc_date::read_beginning(text).map(point)
}

#[cfg(test)]
mod tests {
    use super::*;

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
