//! The formats of texts: dates and times by RFC 3339, addresses by RFC 5321, URIs by RFC 3986, UUIDs by RFC 9562.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `2024-02-29`
    Date,
    /// `2024-02-29T10:30:00Z`
    DateTime,
    /// `10:30:00`, with or without an offset.
    Time,
    /// `10:30:00Z`, with an offset.
    FullTime,
    /// `ada@example.org`
    Email,
    /// `https://example.org/a`, with its scheme.
    Uri,
    /// `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`
    Uuid,
}

impl Format {
    /// Returns the format with this name.
    pub fn named(name: &[u8]) -> Option<Format> {
        Some(match name {
            b"date" => Format::Date,
            b"datetime" => Format::DateTime,
            b"time" => Format::Time,
            b"full_time" => Format::FullTime,
            b"email" => Format::Email,
            b"uri" => Format::Uri,
            b"uuid" => Format::Uuid,
            _ => return None,
        })
    }

    /// Returns whether a text has this format. Linear.
    pub fn has(self, text: &[u8]) -> bool {
        match self {
            Format::Date => is_date(text),
            Format::DateTime => is_date_time(text),
            Format::Time => is_time(text, false),
            Format::FullTime => is_time(text, true),
            Format::Email => is_email(text),
            Format::Uri => is_uri(text),
            Format::Uuid => is_uuid(text),
        }
    }
}

/// Returns the number that these digits are; `None` unless all are digits.
fn number(digits: &[u8]) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let add = |value: u32, digit: &u8| value * 10 + u32::from(digit - b'0');
    is_number.then(|| digits.iter().fold(0, add))
}

fn is_date(text: &[u8]) -> bool {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else {
        return false;
    };
    let parts = (
        number(&[y0, y1, y2, y3]),
        number(&[m0, m1]),
        number(&[d0, d1]),
    );
    let (Some(year), Some(month), Some(day)) = parts else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &[u8]) -> bool {
    match text.split_at_checked(10) {
        Some((date, [b'T' | b't', time @ ..])) => is_date(date) && is_time(time, true),
        _ => false,
    }
}

/// Returns whether this is a time of day; `offset`: it must have one.
fn is_time(text: &[u8], offset: bool) -> bool {
    let &[h0, h1, b':', m0, m1, b':', s0, s1, ref rest @ ..] = text else {
        return false;
    };
    let parts = (number(&[h0, h1]), number(&[m0, m1]), number(&[s0, s1]));
    let (Some(hour), Some(minute), Some(second)) = parts else {
        return false;
    };
    let rest = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            match digits {
                0 => return false,
                _ => &fraction[digits..],
            }
        }
        rest => rest,
    };
    let minutes = match *rest {
        [] if !offset => Some(0),
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            match (number(&[h0, h1]), number(&[m0, m1])) {
                (Some(hours @ ..=23), Some(minutes @ ..=59)) => {
                    let east = (hours * 60 + minutes) as i32;
                    Some(if sign == b'+' { east } else { -east })
                }
                _ => None,
            }
        }
        _ => None,
    };
    let Some(east) = minutes else {
        return false;
    };
    // A leap second is the last one of a day in UTC.
    let in_utc = ((hour * 60 + minute) as i32 - east).rem_euclid(24 * 60);
    hour < 24 && minute < 60 && (second < 60 || second == 60 && in_utc == 24 * 60 - 1)
}

fn is_email(text: &[u8]) -> bool {
    let Some(at) = memchr::memrchr(b'@', text) else {
        return false;
    };
    let (local, domain) = (&text[..at], &text[at + 1..]);
    let is_local = match local {
        [b'"', quoted @ .., b'"'] => is_quoted(quoted),
        _ => local.split(|byte| *byte == b'.').all(is_atom),
    };
    let is_domain = match domain {
        [b'[', literal @ .., b']'] => match literal.strip_prefix(b"IPv6:") {
            Some(address) => is_ip::<Ipv6Addr>(address),
            None => is_ip::<Ipv4Addr>(literal),
        },
        _ => domain.len() <= 253 && domain.split(|byte| *byte == b'.').all(is_label),
    };
    is_local && is_domain
}

fn is_atom(atom: &[u8]) -> bool {
    let is_of_atom = |byte: &u8| {
        byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(byte) || *byte >= 0x80
    };
    !atom.is_empty() && atom.iter().all(is_of_atom)
}

fn is_quoted(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'\\', 32..=126, rest @ ..] => rest,
            [b'\\' | b'"', ..] => return false,
            [32..=126 | 128.., rest @ ..] => rest,
            _ => return false,
        }
    }
}

fn is_label(label: &[u8]) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte >= 0x80;
    let ends = [label.first(), label.last()];
    (1..=63).contains(&label.len())
        && label.iter().all(is_inner)
        && ends.iter().flatten().all(|byte| **byte != b'-')
}

fn is_ip<A: std::str::FromStr>(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<A>().is_ok())
}

/// Returns whether all are characters of a URI: unreserved ones, delimiters, these others, and `%` with two digits.
fn has_only(mut text: &[u8], others: &[u8]) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'%', a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
            [byte, rest @ ..]
                if byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(byte)
                    || others.contains(byte) =>
            {
                rest
            }
            _ => return false,
        }
    }
}

/// Divides at the first such byte; the second part is after it.
fn divided(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(byte, text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

fn is_uri(text: &[u8]) -> bool {
    let (scheme, Some(rest)) = divided(text, b':') else {
        return false;
    };
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    if !scheme.first().is_some_and(u8::is_ascii_alphabetic) || !scheme.iter().all(is_of_scheme) {
        return false;
    }
    let (rest, fragment) = divided(rest, b'#');
    let (hierarchy, query) = divided(rest, b'?');
    let (authority, path) = match hierarchy {
        [b'/', b'/', rest @ ..] => {
            let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
            (&rest[..end], &rest[end..])
        }
        path => (&[][..], path),
    };
    is_authority(authority)
        && has_only(path, b":@/")
        && [query, fragment]
            .into_iter()
            .flatten()
            .all(|part| has_only(part, b":@/?"))
}

fn is_authority(authority: &[u8]) -> bool {
    let (user, host) = match memchr::memrchr(b'@', authority) {
        Some(at) => (&authority[..at], &authority[at + 1..]),
        None => (&[][..], authority),
    };
    let (is_host, port) = match host {
        [b'[', rest @ ..] => match divided(rest, b']') {
            (address, Some(port)) => (is_literal(address), port),
            _ => (false, &[][..]),
        },
        _ => match memchr::memrchr(b':', host) {
            Some(at) => (has_only(&host[..at], b""), &host[at..]),
            None => (has_only(host, b""), &[][..]),
        },
    };
    let is_port = match port {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    has_only(user, b":") && is_host && is_port
}

fn is_literal(address: &[u8]) -> bool {
    match address {
        [b'v' | b'V', rest @ ..] => {
            let (version, address) = divided(rest, b'.');
            let is_version = !version.is_empty() && version.iter().all(u8::is_ascii_hexdigit);
            let is_address =
                |rest: &[u8]| !rest.is_empty() && !rest.contains(&b'%') && has_only(rest, b":");
            is_version && address.is_some_and(is_address)
        }
        _ => is_ip::<Ipv6Addr>(address),
    }
}

fn is_uuid(text: &[u8]) -> bool {
    let is_good = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.iter().enumerate().all(is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(format.has(text.as_bytes()), "{text}");
        }
        for text in bad {
            assert!(!format.has(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn dates_and_times_exist() {
        let good = ["2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"];
        let bad = [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-01",
            "2024-01-00",
        ];
        check(Format::Date, &good, &bad);
        check(
            Format::Date,
            &[],
            &["", "20240101", "2024-01-01T", "২০২৪-01-01", "-2024-01-01"],
        );
        let good = [
            "10:30:00",
            "10:30:00.123456789Z",
            "23:59:60Z",
            "01:29:60+01:30",
            "15:59:60-08:00",
        ];
        let bad = [
            "24:00:00",
            "10:60:00",
            "10:30",
            "22:59:60Z",
            "10:30:00.",
            "10:30:00+24:00",
            "1:00:00",
        ];
        check(Format::Time, &good, &bad);
        let good = ["10:30:00.5Z", "23:59:60z", "10:30:00-08:00"];
        check(Format::FullTime, &good, &["10:30:00", "10:30:00+8"]);
        let good = [
            "1963-06-19T08:30:06.283185Z",
            "1990-12-31t15:59:60-08:00",
            "2024-02-29T00:00:00z",
        ];
        let bad = [
            "2024-02-30T00:00:00Z",
            "2024-02-29T00:00:00",
            "2024-02-29 00:00:00Z",
            "2024-02-29",
        ];
        check(Format::DateTime, &good, &bad);
    }

    #[test]
    fn addresses_follow_the_rfc() {
        let good = [
            "joe.bloggs@example.com",
            "te~st@example.com",
            "\"joe bloggs\"@example.com",
            "\"joe@bloggs\"@example.com",
            "\"joe\\\"bloggs\"@example.com",
            "joe.bloggs@[127.0.0.1]",
            "joe.bloggs@[IPv6:::1]",
            "a@localhost",
            "ü@exämple.org",
        ];
        let bad = [
            "2962",
            ".test@example.com",
            "test.@example.com",
            "te..st@example.com",
            "joe bloggs@example.com",
            "joe.bloggs@invalid=domain.com",
            "joe.bloggs@[127.0.0.300]",
            "joe@-a.com",
            "joe@a..com",
            "@example.com",
            "joe@",
            "a@b@c.d",
        ];
        check(Format::Email, &good, &bad);
    }

    #[test]
    fn uris_have_a_scheme_and_no_other_characters() {
        let good = [
            "http://foo.bar/?baz=qux#quux",
            "http://foo.com/blah_(wikipedia)_blah#cite-1",
            "http://foo.bar/?q=Test%20URL-encoded%20stuff",
            "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
            "ldap://[2001:db8::7]/c=GB?objectClass?one",
            "mailto:John.Doe@example.com",
            "tel:+1-816-555-1212",
            "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
            "http://223.255.255.254:80",
            "a:",
        ];
        let bad = [
            "//foo.bar/?baz=qux#quux",
            "/abc",
            "\\\\WINDOWS\\fileshare",
            "abc",
            "http:// shouldfail.com",
            ":// should fail",
            "bar,baz:foo",
            "https://[@example.org/test.txt",
            "https://example.org/foobar\\.txt",
            "https://example.org/foobar<>.txt",
            "https://example.org/foobar{}.txt",
            "https://example.org/foobar^.txt",
            "https://example.org/foo bar",
            "http://a:b/",
            "http://a/%2x",
            "http://a/ü",
            "http://a/#b#c",
        ];
        check(Format::Uri, &good, &bad);
    }

    #[test]
    fn uuids_have_five_groups() {
        let good = [
            "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
            "00000000-0000-0000-0000-000000000000",
        ];
        let bad = [
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08-aa98-11ea-73b441d16380",
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
            "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
        ];
        check(Format::Uuid, &good, &bad);
    }
}
