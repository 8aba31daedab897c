//! The shortest text of a float, with the digits that Erlang/OTP gives it.

/// Places after the point that hold every float exactly.
const EXACT: usize = 800;

/// Returns the shortest text that is read as the float again, as `1.25e1`. Of two such texts that are equally near to the float, it is that
/// with the even digit.
pub fn shortest(value: f64) -> String {
    let text = format!("{value:e}");
    match even(value, &text) {
        Some(even) => even,
        None => text,
    }
}

/// The text with the even digit, if the float lies in the middle between both; Rust's formatting rounds up there.
fn even(value: f64, text: &str) -> Option<String> {
    let (digits, exponent) = text.split_once('e')?;
    let last = digits.bytes().last().filter(|digit| digit % 2 == 1)?;
    let below = format!("{}{}", &digits[..digits.len() - 1], char::from(last - 1));
    let places = digits.bytes().filter(u8::is_ascii_digit).count();
    let point = if places == 1 { "." } else { "" };
    let middle = format!("{below}{point}5");
    if format!("{value:.places$e}").split_once('e')?.0 != middle {
        return None;
    }
    let exact = format!("{value:.EXACT$e}");
    if exact.split_once('e')?.0.trim_end_matches('0') != middle {
        return None;
    }
    let below = format!("{below}e{exponent}");
    (below.parse() == Ok(value)).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn the_even_digit_of_two() {
        // In the middle: 31208798240916.5625 and two like it.
        for (value, text) in [
            (499340771854665.0 / 16.0, "3.1208798240916562e13"),
            (-499340771854665.0 / 16.0, "-3.1208798240916562e13"),
            (7833665139991889.0 / 4.0, "1.9584162849979722e15"),
            (2622699956382137.0 / 4.0, "6.556749890955342e14"),
            (0.5, "5e-1"),
            (0.1, "1e-1"),
            (12.5, "1.25e1"),
            (-0.0, "-0e0"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(shortest(value), text);
        }
    }

    #[test]
    fn is_read_as_the_same_float() {
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                assert_eq!(shortest(value).parse(), Ok(value));
            }
        }
    }
}
