//! Parts of a moment, in its own offset.

use crate::moment::{Moment, SECOND};
use crate::write::ShortText;
use time::Date;

/// A part of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The year.
    Year,
    /// The quarter, from 1.
    Quarter,
    /// The month, from 1.
    Month,
    /// The week of ISO 8601, from 1.
    Week,
    /// The day of the month, from 1.
    Day,
    /// The day of the week, from 1, which is Monday.
    Weekday,
    /// The day of the year, from 1.
    Yearday,
    /// The hour, from 0.
    Hour,
    /// The minute, from 0.
    Minute,
    /// The second, from 0.
    Second,
    /// The date.
    Date,
    /// The first day of the month.
    MonthStart,
    /// The Monday of the week.
    WeekStart,
    /// The year and the month: `2024-02`.
    YearMonth,
}

/// The value of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartValue {
    /// A number.
    Number(i64),
    /// A text.
    Text(ShortText),
}

impl Part {
    /// All parts with their names.
    pub const ALL: [(&'static str, Part); 14] = [
        ("year", Part::Year),
        ("quarter", Part::Quarter),
        ("month", Part::Month),
        ("week", Part::Week),
        ("day", Part::Day),
        ("weekday", Part::Weekday),
        ("yearday", Part::Yearday),
        ("hour", Part::Hour),
        ("minute", Part::Minute),
        ("second", Part::Second),
        ("date", Part::Date),
        ("month_start", Part::MonthStart),
        ("week_start", Part::WeekStart),
        ("year_month", Part::YearMonth),
    ];
}

impl Moment {
    /// Returns a part of the moment. The Monday before the first day of the year 0 is in the year -1.
    #[inline]
    pub fn part(&self, part: Part) -> PartValue {
        let date = self.date;
        let second = self.micros() / SECOND;
        let number = match part {
            Part::Year => i64::from(date.year()),
            Part::Quarter => (i64::from(date.month() as u8) + 2) / 3,
            Part::Month => i64::from(date.month() as u8),
            Part::Week => i64::from(date.iso_week()),
            Part::Day => i64::from(date.day()),
            Part::Weekday => i64::from(date.weekday().number_from_monday()),
            Part::Yearday => i64::from(date.ordinal()),
            Part::Hour => second / 3_600,
            Part::Minute => second / 60 % 60,
            Part::Second => second % 60,
            Part::Date => return PartValue::Text(ShortText::of_date(date)),
            Part::MonthStart => {
                let first = date.replace_day(1).unwrap_or(date);
                return PartValue::Text(ShortText::of_date(first));
            }
            Part::WeekStart => {
                let days = i32::from(date.weekday().number_days_from_monday());
                let monday = Date::from_julian_day(date.to_julian_day() - days).unwrap_or(date);
                return PartValue::Text(ShortText::of_date(monday));
            }
            Part::YearMonth => return PartValue::Text(ShortText::of_date(date).cut(7)),
        };
        PartValue::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, part: Part) -> String {
        match Moment::read(text.as_bytes()).unwrap().part(part) {
            PartValue::Number(number) => number.to_string(),
            PartValue::Text(text) => String::from_utf8(text.bytes().to_vec()).unwrap(),
        }
    }

    #[test]
    fn parts_are_in_the_own_offset() {
        let text = "2024-02-29T23:30:15.250-05:00";
        let expected = [
            "2024",
            "1",
            "2",
            "9",
            "29",
            "4",
            "60",
            "23",
            "30",
            "15",
            "2024-02-29",
            "2024-02-01",
            "2024-02-26",
            "2024-02",
        ];
        for ((name, which), expected) in Part::ALL.into_iter().zip(expected) {
            assert_eq!(part(text, which), expected, "{name}");
        }
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        for (text, week) in [
            ("2021-01-03", "53"),
            ("2021-01-04", "1"),
            ("2024-12-30", "1"),
            ("2020-12-31", "53"),
            ("0000-01-01", "52"),
            ("9999-12-31", "52"),
        ] {
            assert_eq!(part(text, Part::Week), week, "{text}");
        }
        assert_eq!(part("2021-01-03", Part::WeekStart), "2020-12-28");
        assert_eq!(part("0000-01-03", Part::WeekStart), "0000-01-03");
        assert_eq!(part("0000-01-01", Part::WeekStart), "-0001-12-27");
        assert_eq!(part("0000-01-01", Part::YearMonth), "0000-01");
    }
}
