//! Whether a float has the value of the digits that it was read from.

use ptc_term::shortest::shortest;

/// The sign, the digits without zeros at both ends, and the power of ten of the last one; `None` for an exponent that is too long.
fn parts(token: &str) -> Option<(bool, impl Iterator<Item = u8> + '_, i64)> {
    let (negative, token) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
        None => (token, 0_i64),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let (whole, zeros) = match fraction {
        "" => {
            let trimmed = whole.trim_end_matches('0');
            (trimmed, whole.len() - trimmed.len())
        }
        _ => (whole, 0),
    };
    let last = (exponent.checked_add(zeros as i64)?).checked_sub(fraction.len() as i64)?;
    let digits = whole.bytes().chain(fraction.bytes());
    Some((negative, digits.skip_while(|digit| *digit == b'0'), last))
}

/// Returns whether the shortest text of a float has the value of the token that it was read from. Linear.
pub(crate) fn keeps_value(token: &str, value: f64) -> bool {
    let shortest = shortest(value);
    let (Some((a, x, m)), Some((b, y, n))) = (parts(token), parts(&shortest)) else {
        return false;
    };
    match value == 0.0 {
        true => x.count() == 0,
        false => a == b && m == n && x.eq(y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_a_float_has_and_has_not() {
        let kept = |token: &str| keeps_value(token, token.parse().unwrap());
        for token in [
            "0.1",
            "12.50",
            "-0.0",
            "0e5",
            "0.000e-9",
            "1e22",
            "100.0",
            "1.5E+3",
            "-1200e-2",
            "0.30000000000000004",
            "5e-324",
            "1.7976931348623157e308",
            "123456789012345680.0",
        ] {
            assert!(kept(token), "{token}");
        }
        for token in [
            "12345678901234567.89",
            "0.1000000000000000055511151231257827",
            "1e-400",
            "9007199254740993.0",
            "-0.12345678901234567890",
            "123456789012345678e-1",
            "4e-324",
            "0.30000000000000000001",
        ] {
            assert!(!kept(token), "{token}");
        }
        assert!(!keeps_value("1e99999999999999999999", 0.0));
    }
}
