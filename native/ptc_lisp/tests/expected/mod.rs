//! Compares what programs come to with what they should come to.

use crate::running::value;

/// Compares the values of programs with what they should be.
#[track_caller]
pub fn same(cases: &[(&str, &str)]) {
    compare(cases, |source, expected| {
        let got = value(source);
        (got.as_deref() != Ok(expected)).then(|| format!("{got:?}"))
    });
}

/// Compares the errors of programs with what they should be.
#[track_caller]
pub fn fails(cases: &[(&str, &str)]) {
    compare(cases, |source, expected| {
        let got = value(source);
        let error = got.as_ref().map_err(|error| error.trim_end());
        (error != Err(expected)).then(|| format!("{got:?}"))
    });
}

#[track_caller]
fn compare(cases: &[(&str, &str)], other: impl Fn(&str, &str) -> Option<String>) {
    let wrong = cases.iter().filter_map(|(source, expected)| {
        other(source, expected).map(|got| format!("{source}: {got}, not {expected}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
