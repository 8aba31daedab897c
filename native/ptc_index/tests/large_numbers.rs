//! Numbers of many digits, around the largest double and the longest integer.

use crate::common::{agree, index};
use ptc_json::{JsonLimits, Table, LONGEST_INTEGER};

#[test]
fn long_numbers() {
    let zeros = |count: usize| "0".repeat(count);
    let nines = |count: usize| "9".repeat(count);
    for pad in [0, 1, 30, 62, 63, 64] {
        for count in [1, 60, 127, 128, 130, 300, 307, 308, 309, 310, 400, 1_000] {
            for text in [
                nines(count),
                format!("-{}", nines(count)),
                format!("{}.0", nines(count)),
                format!("1{}.0", zeros(count)),
                format!("1{}e0", zeros(count)),
                format!("1{}e-5", zeros(count)),
                format!("1{}e{}", zeros(count), 308_usize.saturating_sub(count)),
                format!("1{}e{}", zeros(count), 309_usize.saturating_sub(count)),
                format!("0.{}1e{}", zeros(count), count + 309),
                format!("0.{}1e{}", zeros(count), count + 310),
                format!("0.{}e999", zeros(count)),
                format!("0.{}", nines(count)),
                format!("1e{}5", zeros(count)),
                format!("1e{}400", zeros(count)),
                format!("1e-{}", nines(count)),
                format!("1e+{}", nines(count)),
                format!("0e{}", nines(count)),
                format!("-0.{}e+{}", zeros(count), nines(count)),
                format!(
                    "17976931348623157{}e{}",
                    nines(count),
                    309_usize.saturating_sub(count + 17)
                ),
                format!(
                    "17976931348623158{}e{}",
                    zeros(count),
                    309_usize.saturating_sub(count + 17)
                ),
                format!(
                    "17976931348623159{}e{}",
                    zeros(count),
                    309_usize.saturating_sub(count + 17)
                ),
                format!("1.7976931348623158{}e308", nines(count)),
                format!("1.797693134862315807{}e308", zeros(count)),
                format!("1.797693134862315808{}e308", zeros(count)),
                format!("{}.", nines(count)),
                format!("{}e", nines(count)),
                format!("0{}", zeros(count)),
                format!("{}-1", nines(count)),
                format!("{}.5.5", nines(count)),
                format!("{}e5e5", nines(count)),
            ] {
                agree(format!("{}{text}", " ".repeat(pad)).as_bytes());
                agree(format!("[{}{text},true]", " ".repeat(pad)).as_bytes());
            }
        }
    }
}

/// The largest double, and the first number that is rounded beyond it.
#[test]
fn the_largest_float() {
    // 2^1024 - 2^970, in the middle of the largest double and the next power of two.
    let middle = "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";
    assert_eq!(middle.len(), 309);
    let below = format!("{}1", middle.strip_suffix("2").expect("as above"));
    for tail in ["", "0", "000", "1"] {
        for fraction in ["", ".0", ".000000000000", ".0000000001"] {
            for number in [middle, &below] {
                let number = match (tail, fraction) {
                    ("", "") => format!("{number}e0"),
                    (tail, fraction) => format!("{number}{tail}{fraction}e-{}", tail.len()),
                };
                agree(number.as_bytes());
                agree(format!("-{number}").as_bytes());
            }
        }
    }
    for point in [1, 100, 308] {
        for number in [middle, &below] {
            let (before, after) = number.split_at(point);
            agree(format!("{before}.{after}e{}", 309 - point).as_bytes());
            agree(format!("{before}.{after}1e{}", 309 - point).as_bytes());
        }
    }
}

#[test]
fn the_longest_integer() {
    for (extra, accepted) in [(0, true), (1, false)] {
        let digits = "1".repeat(LONGEST_INTEGER + extra);
        for text in [
            digits.clone(),
            format!("-{digits}"),
            format!("[0,{digits} ,1]"),
        ] {
            assert_eq!(index(text.as_bytes()).is_ok(), accepted);
            assert_eq!(
                Table::parse(text.as_bytes(), JsonLimits::depth(9)).is_ok(),
                accepted
            );
        }
    }
    // Floats may be longer, but not larger. The exponent of the second is cut off as the standard library does it.
    let zeros = "0".repeat(100_000);
    for text in [
        format!("0.{zeros}1"),
        format!("1{zeros}e-100000"),
        format!("1{zeros}e-99600"),
        format!("0.{zeros}1e100001"),
        format!("0.{zeros}1e100400"),
        format!("1{zeros}{zeros}e-1000000"),
        format!("0.{zeros}1e1000000"),
    ] {
        agree(text.as_bytes());
    }
}
