//! Dates, times, decimals and names as values: compared by their meaning, on plain terms, in one go and
//! suspended at each unit of fuel.

use crate::common::{End, Lab, EDITION_1, STRICT};
use ptc_program::compile::Options;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};

const VALUES: Options = Options {
    values: true,
    any_keys: true,
    ..EDITION_1
};

fn integer(heap: &mut PlainHeap, value: i64) -> Term {
    heap.make_number(Number::Int(value)).expect("an integer")
}

fn date(heap: &mut PlainHeap, year: i64, month: i64, day: i64) -> Term {
    let calendar = heap.atom("Elixir.Calendar.ISO");
    let [year, month, day] = [year, month, day].map(|part| integer(heap, part));
    let fields = [
        ("calendar", calendar),
        ("year", year),
        ("month", month),
        ("day", day),
    ];
    heap.structure("Date", &fields)
}

fn decimal(heap: &mut PlainHeap, coefficient: i64, exponent: i64) -> Term {
    let sign = integer(heap, coefficient.signum());
    let coefficient = integer(heap, coefficient.abs());
    let exponent = integer(heap, exponent);
    let fields = [("sign", sign), ("coef", coefficient), ("exp", exponent)];
    heap.structure("Decimal", &fields)
}

const STATES: [&str; 4] = ["open", "closed", "paid", "nope"];

/// A row of its number, a date that is also written as text in every third row, a decimal, and a state that
/// is a name, its text or nil.
fn row(heap: &mut PlainHeap, n: i64) -> Term {
    let (month, day) = (1 + n * 5 % 12, 1 + n * 11 % 28);
    let at = match n % 3 {
        0 => heap.make_string(format!("2024-{month:02}-{day:02}").as_bytes()),
        _ => date(heap, 2024, month, day),
    };
    let price = match n % 4 {
        0 => integer(heap, n * 7 % 10),
        _ => decimal(heap, n * 70 % 100, -1),
    };
    let number = integer(heap, n);
    let state = STATES[n as usize % 3];
    let state = match n % 5 {
        0 => heap.make_string(state.as_bytes()),
        1 => heap.nil(),
        _ => heap.atom(state),
    };
    let mut names = ["n", "at", "price"]
        .map(|name| heap.make_string(name.as_bytes()))
        .to_vec();
    // A key is a name or its string.
    names.push(match n % 2 {
        0 => heap.make_string(b"state"),
        _ => heap.atom("state"),
    });
    heap.make_map(&names, &[number, at, price, state])
}

fn context(heap: &mut PlainHeap) -> Term {
    let rows: Vec<_> = (0..40).map(|n| row(heap, n)).collect();
    let rows = heap.make_list(&rows);
    let name = heap.make_string(b"rows");
    heap.make_map(&[name], &[rows])
}

/// The program's value as text, the same in one go and in the smallest pieces.
fn run(steps: &str, options: Options) -> String {
    let program = format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{steps}]}}"#);
    let mut heap = PlainHeap::new();
    let rows = context(&mut heap);
    let lab = Lab::of_text(heap, program.as_bytes(), options).expect("a program");
    let mut lab = lab.over(rows);
    let whole = lab.in_one_go();
    for units in [1, 7, 100] {
        assert_eq!(lab.in_executions(|| units), whole, "{steps}");
    }
    match whole {
        End::Value(value) => value,
        end => panic!("{end:?}"),
    }
}

const NUMBERS: &str = r#"{"op":"map","expr":{"op":"get","field":"n"}}"#;

fn key(n: i64) -> (i64, i64) {
    (1 + n * 5 % 12, 1 + n * 11 % 28)
}

#[test]
fn rows_are_sorted_by_date_and_by_decimal() {
    let mut by_date: Vec<i64> = (0..40).collect();
    by_date.sort_by_key(|n| key(*n));
    let steps = format!(r#"{{"op":"sort_by","field":"at"}},{NUMBERS}"#);
    assert_eq!(run(&steps, VALUES), format!("{by_date:?}"));
    let mut descending: Vec<i64> = (0..40).collect();
    descending.sort_by_key(|n| std::cmp::Reverse(key(*n)));
    let steps = format!(r#"{{"op":"sort_by","field":"at","order":"desc"}},{NUMBERS}"#);
    assert_eq!(run(&steps, VALUES), format!("{descending:?}"));

    let mut by_price: Vec<i64> = (0..40).collect();
    by_price.sort_by_key(|n| n * 7 % 10);
    let steps = format!(r#"{{"op":"sort_by","field":"price"}},{NUMBERS}"#);
    assert_eq!(run(&steps, VALUES), format!("{by_price:?}"));
    let first =
        format!(r#"{{"op":"sort_by","field":"price"}},{{"op":"take","count":3}},{NUMBERS}"#);
    assert_eq!(run(&first, VALUES), format!("{:?}", &by_price[..3]));
}

#[test]
fn extremes_sets_and_filters() {
    let latest = (0..40).rev().max_by_key(|n| key(*n)).unwrap();
    let max = r#"{"op":"max_by","field":"at"},{"op":"get","field":"n"}"#;
    assert_eq!(run(max, VALUES), latest.to_string());
    let prices =
        r#"{"op":"map","expr":{"op":"get","field":"price"}},{"op":"distinct"},{"op":"count"}"#;
    assert_eq!(run(prices, VALUES), "10");
    let wanted = r#"{"op":"filter_in","field":"price","value":[0,"3.0"]},{"op":"count"}"#;
    assert_eq!(run(wanted, VALUES), "8");
    let count = (0..40).filter(|n| key(*n) >= (6, 15)).count();
    let from =
        r#"{"op":"filter","where":{"op":"gte","field":"at","value":"2024-06-15"}},{"op":"count"}"#;
    assert_eq!(run(from, VALUES), count.to_string());
    let rows = r#"{"op":"distinct"},{"op":"count"}"#;
    assert_eq!(run(rows, VALUES), "40");
}

#[test]
fn without_the_option_they_are_maps() {
    let types =
        r#"{"op":"drop","count":1},{"op":"first"},{"op":"get","field":"at"},{"op":"typeof"}"#;
    assert_eq!(run(types, STRICT), "\"object\"");
    assert_eq!(run(types, VALUES), "\"string\"");
}

fn state(n: i64) -> Option<&'static str> {
    (n % 5 != 1).then_some(STATES[n as usize % 3])
}

#[test]
fn names_are_compared_as_their_strings() {
    let numbers = |keep: &dyn Fn(i64) -> bool| {
        let kept: Vec<i64> = (0..40).filter(|n| keep(*n)).collect();
        format!("{kept:?}")
    };
    for (op, value, holds) in [
        (
            "eq",
            "paid",
            &(|n| state(n) == Some("paid")) as &dyn Fn(i64) -> bool,
        ),
        ("neq", "paid", &|n| state(n) != Some("paid")),
        ("gte", "open", &|n| state(n) >= Some("open")),
        ("lt", "open", &|n| state(n) < Some("open")),
        ("contains", "pa", &|n| state(n) == Some("paid")),
    ] {
        let test = format!(r#"{{"op":"{op}","field":"state","value":"{value}"}}"#);
        let filter = format!(r#"{{"op":"filter","where":{test}}},{NUMBERS}"#);
        assert_eq!(run(&filter, VALUES), numbers(holds), "{test}");
    }
    let wanted = r#"{"op":"filter_in","field":"state","value":["open","paid","other"]}"#;
    let is_wanted = |n| state(n).is_some_and(|state| state != "closed");
    assert_eq!(
        run(&format!("{wanted},{NUMBERS}"), VALUES),
        numbers(&is_wanted)
    );

    let states = r#"{"op":"map","expr":{"op":"get","field":"state"}}"#;
    let distinct = format!(r#"{states},{{"op":"distinct"}},{{"op":"count"}}"#);
    assert_eq!(run(&distinct, VALUES), "4");
    for (op, found) in [("contains", "true"), ("in", "true")] {
        let has = format!(r#"{states},{{"op":"{op}","value":"closed"}}"#);
        assert_eq!(run(&has, VALUES), found);
        let has_not = format!(r#"{states},{{"op":"{op}","value":"nope"}}"#);
        assert_eq!(run(&has_not, VALUES), "false");
    }
    let mut sorted: Vec<i64> = (0..40).collect();
    sorted.sort_by_key(|n| state(*n));
    let sort = format!(r#"{{"op":"sort_by","field":"state"}},{NUMBERS}"#);
    assert_eq!(run(&sort, VALUES), format!("{sorted:?}"));
    let min = r#"{"op":"min_by","field":"state"},{"op":"get","field":"n"}"#;
    assert_eq!(
        run(min, VALUES),
        sorted
            .iter()
            .find(|n| state(**n).is_some())
            .unwrap()
            .to_string()
    );
    let types = r#"{"op":"nth","index":3},{"op":"get","field":"state"},{"op":"typeof"}"#;
    assert_eq!(run(types, VALUES), "\"string\"");
}
