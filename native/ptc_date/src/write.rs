//! Moments as texts.

use crate::iso::Iso;
use crate::moment::{since_midnight, Moment};
use time::Date;

/// Bytes of the longest text with a fraction of six digits: `2024-02-29T10:30:00.123456+02:00`.
pub(crate) const LONGEST: usize = 32;

/// Julian day number of 1970-01-01.
const UNIX_DAY: i64 = 2_440_588;

/// A text of at most eleven bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortText {
    bytes: [u8; 11],
    length: u8,
}

impl ShortText {
    /// Returns `2024-02-29`. A year has at most four digits.
    pub(crate) fn of_date(date: Date) -> Self {
        let (year, month, day) = date.to_calendar_date();
        let (mut bytes, sign) = match year < 0 {
            true => (*b"-0000-00-00", 1),
            false => (*b"0000-00-00\0", 0),
        };
        digits(&mut bytes[sign..sign + 4], i64::from(year.abs()));
        digits(&mut bytes[sign + 5..sign + 7], i64::from(month as u8));
        digits(&mut bytes[sign + 8..sign + 10], i64::from(day));
        let length = 10 + sign as u8;
        ShortText { bytes, length }
    }

    /// Returns the first bytes.
    pub(crate) fn cut(self, length: u8) -> Self {
        ShortText {
            length: length.min(self.length),
            ..self
        }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Writes a number that has at most as many digits as there are places.
fn digits(places: &mut [u8], number: i64) {
    let mut rest = number;
    for place in places.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

pub(crate) fn put_date(text: &mut Vec<u8>, date: Date) {
    text.extend_from_slice(ShortText::of_date(date).bytes());
}

/// Writes a time of day, given in seconds.
pub(crate) fn put_clock(text: &mut Vec<u8>, seconds: i64) {
    let mut bytes = *b"00:00:00";
    digits(&mut bytes[0..2], seconds / 3_600);
    digits(&mut bytes[3..5], seconds / 60 % 60);
    digits(&mut bytes[6..8], seconds % 60);
    text.extend_from_slice(&bytes);
}

/// Returns the text of a moment, as Elixir's `to_iso8601` writes it.
pub fn to_text(moment: &Moment) -> Vec<u8> {
    let mut text = Vec::with_capacity(LONGEST);
    put_date(&mut text, moment.date);
    let Some(time) = moment.time else {
        return text;
    };
    text.push(b'T');
    put_time(&mut text, time);
    match moment.offset {
        None => {}
        Some(0) => text.push(b'Z'),
        Some(offset) => {
            let mut bytes = *b"+00:00";
            bytes[0] = if offset < 0 { b'-' } else { b'+' };
            digits(&mut bytes[1..3], offset.abs() / 3_600);
            digits(&mut bytes[4..6], offset.abs() / 60 % 60);
            text.extend_from_slice(&bytes);
        }
    }
    text
}

/// Returns the text of a date or a time, as Elixir's `to_iso8601` writes it; `None` if it does not exist, or is not in
/// one of [`YEARS`](crate::YEARS). An offset of 0 is `Z`.
pub fn text_of(iso: Iso) -> Option<Vec<u8>> {
    let Iso::Time(clock) = iso else {
        return Moment::of(iso).map(|moment| to_text(&moment));
    };
    let time = since_midnight(clock)?;
    let mut text = Vec::with_capacity(LONGEST);
    put_time(&mut text, time);
    Some(text)
}

/// Writes a time of day: its microseconds, and how many digits of the second's fraction are shown.
fn put_time(text: &mut Vec<u8>, (micros, shown): (i64, u8)) {
    put_clock(text, micros / 1_000_000);
    if shown > 0 {
        let mut fraction = *b".000000";
        digits(&mut fraction[1..], micros % 1_000_000);
        text.extend_from_slice(&fraction[..=usize::from(shown)]);
    }
}

/// Returns the text of a point in time, in seconds since 1970-01-01 in UTC: `2024-02-29T10:30:00Z`. Beyond the
/// calendar's years it is that of the first or the last second.
pub fn of_unix_seconds(seconds: i64) -> Vec<u8> {
    let day = seconds.div_euclid(86_400).saturating_add(UNIX_DAY);
    let date = i32::try_from(day)
        .ok()
        .and_then(|day| Date::from_julian_day(day).ok());
    let of_date = |date: Date| crate::YEARS.contains(&i64::from(date.year()));
    let (date, clock) = match date.filter(|date| of_date(*date)) {
        Some(date) => (ShortText::of_date(date), seconds.rem_euclid(86_400)),
        None if seconds < 0 => return b"0000-01-01T00:00:00Z".to_vec(),
        None => return b"9999-12-31T23:59:59Z".to_vec(),
    };
    let mut text = Vec::with_capacity(20);
    text.extend_from_slice(date.bytes());
    text.push(b'T');
    put_clock(&mut text, clock);
    text.push(b'Z');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iso::{Clock, Day};

    #[test]
    fn texts_are_those_that_were_read() {
        for text in [
            "0000-01-01",
            "2024-02-29T10:30:00",
            "2024-02-29T10:30:00.1",
            "2024-02-29T10:30:00.123456Z",
            "2024-02-29T10:30:00.000+02:00",
            "2024-02-29T23:59:59-11:30",
        ] {
            let moment = Moment::read(text.as_bytes()).unwrap();
            assert_eq!(to_text(&moment), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn offsets_are_shown_in_minutes() {
        let day = Day {
            year: 1890,
            month: 4,
            day: 1,
        };
        let clock = Clock {
            hour: 1,
            minute: 2,
            second: 3,
            micro: 0,
            digits: 0,
        };
        let moment = Moment::of(Iso::DateTime(day, clock, -1_172)).unwrap();
        assert_eq!(to_text(&moment), b"1890-04-01T01:02:03-00:19");
    }

    #[test]
    fn seconds_since_1970() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (1_709_202_600, "2024-02-29T10:30:00Z"),
            (i64::MAX, "9999-12-31T23:59:59Z"),
            (i64::MIN, "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(of_unix_seconds(seconds), text.as_bytes(), "{seconds}");
        }
    }
}
