//! Tests of each kind of fault, and of real answers of models.

use super::*;
use ptc_json::TermBuilder;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::plain::PlainHeap;
use ptc_term::workspace::{unlimited, Workspace};
use ptc_type::{parse, AnswerType, Type};

const FREE: Limits = Limits {
    deadline: Deadline::Never,
    words: usize::MAX,
};

/// Returns the value and the faults, or the refusal.
fn read(signature: &str, text: &str) -> Result<(String, Vec<Fault>), Refusal> {
    let signature = parse(signature.as_bytes());
    let wanted = match signature {
        Ok(signature) => {
            let list = matches!(signature.types.get(signature.returns), Type::List(_));
            Wanted::new(AnswerType::new(signature.types, signature.returns, list))
        }
        Err(_) => Wanted::anything(),
    };
    let mut heap = PlainHeap::new();
    let heap_of_meter = PlainHeap::new();
    let mut meter = Meter::new(FREE, Pace::Quantum);
    let repaired = repair(text.as_bytes(), &wanted, &mut meter, &heap_of_meter)?;
    let mut free = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(&mut heap, &mut free));
    repaired.replay(&mut builder).expect("it has no limits");
    let value = builder.finish();
    let faults = repaired
        .repairs()
        .iter()
        .map(|repair| repair.fault)
        .collect();
    Ok((heap.show(value), faults))
}

fn assert_values(cases: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (signature, text, value) in cases {
        let got = read(signature, text);
        let shown = match &got {
            Ok((value, _)) => value.clone(),
            Err(Refusal::Ambiguous(_)) => "ambiguous".to_string(),
            Err(_) => "none".to_string(),
        };
        if shown != *value {
            wrong += &format!("{signature}\n  {text}\n  wanted {value}\n  got    {got:?}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Tests of cases: a signature (or none), an answer, and the value that it is read as, `ambiguous` or `none`.
macro_rules! cases {
    ($(#[$about:meta])* $name:ident { $($signature:literal, $text:literal => $value:literal;)+ }) => {
        $(#[$about])*
        #[test]
        fn $name() {
            assert_values(&[$(($signature, $text, $value)),+]);
        }
    };
}

cases! {
    commas_and_colons {
        "", r#"{"a": 1 "b": 2}"# => r#"%{"a" => 1, "b" => 2}"#;
        "", r#"["x" "y",, "z",]"# => r#"["x", "y", "z"]"#;
        "", r#"[,1]"# => "[1]";
        "", r#"{"a": 1; "b": [1; 2]}"# => r#"%{"a" => 1, "b" => [1, 2]}"#;
        "", r#"{"a" 1, "b" = 2, "c" => [3]}"# => r#"%{"a" => 1, "b" => 2, "c" => [3]}"#;
        "", "{\"a\": \"x\"\n\"b\": \"y\"}" => r#"%{"a" => "x", "b" => "y"}"#;
        "", r#"{"a": , "b": 1}"# => "none";
        "", r#"{"a", "b"}"# => "none";
    }
}

cases! {
    quotes {
        "", "{'a': 'it\\'s', 'b': \"x\"}" => r#"%{"a" => "it's", "b" => "x"}"#;
        "", "{'a': 'it's fine', 'b': 1}" => r#"%{"a" => "it's fine", "b" => 1}"#;
        "", "{“a”: “x”, ‘b’: «y»}" => r#"%{"a" => "x", "b" => "y"}"#;
        "", "{\"a\": \"he said “no”\",}" => r#"%{"a" => "he said “no”"}"#;
        "", "{\"a\": `x`}" => r#"%{"a" => "x"}"#;
        "", r#"{"a": """x "y" z"""}"# => r#"%{"a" => "x \"y\" z"}"#;
        "", r#"{"a": "He said "yes", then left", "b": 1}"# => r#"%{"a" => "He said \"yes\", then left", "b" => 1}"#;
        "", r#"{"a": "<a href="x.html" class="y">z</a>", "b": 1}"# => r#"%{"a" => "<a href=\"x.html\" class=\"y\">z</a>", "b" => 1}"#;
        "", r#"{"size": "27" monitor", "b": 1}"# => r#"%{"b" => 1, "size" => "27\" monitor"}"#;
        "", r#"{"a: 1, "b": 2}"# => r#"%{"a" => 1, "b" => 2}"#;
        "", r#"{a": 1, b: 2}"# => r#"%{"a" => 1, "b" => 2}"#;
        "", r#"["Ada,"Bob"]"# => r#"["Ada", "Bob"]"#;
        "", r#"["Ada, "Bob"]"# => r#"["Ada", "Bob"]"#;
        "", r#"[Ada", "Bob"]"# => r#"["Ada", "Bob"]"#;
        "", r#"[Ada, "Bob", Eve Smith]"# => r#"["Ada", "Bob", "Eve Smith"]"#;
        "", "{\"a\": \"x\n  y\tz\"}" => r#"%{"a" => "x\n  y\tz"}"#;
        // In `\U` and `\d` the backslash was meant literally; `\u` begins a code that is missing.
        "", r#"{"re": "\d+\w*", "b": "it\'s"}"# => r#"%{"b" => "it's", "re" => "\\d+\\w*"}"#;
        "", r#"{"path": "C:\users"}"# => "none";
        "", r#"{"a": "\x41\
b"}"# => r#"%{"a" => "Ab"}"#;
        "", r#"{"price": "5 \$"}"# => "none";
    }
}

cases! {
    words_numbers_and_comments {
        "", "{\"a\": True, \"b\": None, \"c\": undefined, \"d\": [NaN, FALSE, -Infinity]}" => r#"%{"a" => true, "b" => nil, "c" => nil, "d" => [nil, false, nil]}"#;
        "", "[+1, 1., .5, -.5, 1_000, +2.5e3,]" => "[1, 1.0, 0.5, -0.5, 1000, 2500.0]";
        "", "{\"a\": 1,234, \"b\": -12,345,678.5}" => r#"%{"a" => 1234, "b" => -12345678.5}"#;
        "", "{\"a\": 1, // one\n # two\n /* three */ \"b\": 2}" => r#"%{"a" => 1, "b" => 2}"#;
        "{a [:string]}", "{\"a\": [no /* no, {} */ , \"y /* z */\", maybe /* ? */]}" => r#"%{"a" => ["no", "y /* z */", "maybe"]}"#;
        "", "{\"a\": \"http://x.y/#z\", // c\n\"b\": 1}" => r#"%{"a" => "http://x.y/#z", "b" => 1}"#;
        "", "[1, 2, ...]" => "[1, 2]";
        "", "{\"a\": 1, ... }" => r#"%{"a" => 1}"#;
        "", "{\"d\": 2024-01-15, \"b\": 1}" => r#"%{"b" => 1, "d" => "2024-01-15"}"#;
        "{d :int}", "{\"d\": 12 apples}" => "none";
        "{d :string}", "{d: None}" => "none";
    }
}

/// A model repeats a mistake. Repairing all occurrences must not cost more than a reading that takes
/// half of the text for a string, or for text after the answer.
#[test]
fn faults_that_go_on() {
    let rows = |row: &str| row.repeat(40);
    let row = "{name: 'x', note: 'a, b', n: 1, at: null}, ";
    let text = format!("{{rows: [{}], last: 'it'}}", rows(row));
    let (value, _) = read("", &text).expect("it is repaired");
    assert_eq!(value.matches("\"note\" => \"a, b\"").count(), 40);
    let row = "{\n\"name\": \"{x}\"\n\"note\": \"a: b\"\n\"n\": 1\n\"list\": [1\n2]\n}\n";
    let text = format!("{{\n\"rows\": [\n{}]\n\"last\": 2\n}}", rows(row));
    let (value, _) = read("", &text).expect("it is repaired");
    assert_eq!(value.matches("\"list\" => [1, 2]").count(), 40);
}

cases! {
    an_answer_of_many_lines {
        "[{a :int}]", "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n" => r#"[%{"a" => 1}, %{"a" => 2}, %{"a" => 3}]"#;
        "[{a :int}]", "{\"a\": 1}\n\nThat is all." => r#"[%{"a" => 1}]"#;
        "[:bool]", "[\n  True\n]" => "[true]";
        "[:bool]", "[ // yes or no\n  false,\n true\n]" => "[false, true]";
        "[:string]", "[“”, “so”]" => r#"["", "so"]"#;
        "[:bool]", "Sure [as asked]: [true; false]" => "[true, false]";
    }
}

cases! {
    the_first_bracket_is_missing {
        "{a :bool, b [:int]}", "Sure [as asked]: \"a\": false,\n\"b\": [1, 2]\n}" => r#"%{"a" => false, "b" => [1, 2]}"#;
        "", "Here:\n```json\n\"a\": [1],\n\"b\": 2\n}\n```" => r#"%{"a" => [1], "b" => 2}"#;
        "{a :string?, b :int}", "**Answer:** \"a\": \"x\",\n\t\"b\": 2\n}" => r#"%{"a" => "x", "b" => 2}"#;
        "{a :int}", "The field \"a\": see below.\n{\"a\": 2,}" => r#"%{"a" => 2}"#;
    }
}

cases! {
    /// A key belongs to a surrounding object that declares it and does not have it yet.
    keys_of_an_object_around {
        "{a {x :int}, b :int?}", "{\"a\": {\"x\": 1\n, \"b\": null\n}" => r#"%{"a" => %{"x" => 1}, "b" => nil}"#;
    }
}

cases! {
    brackets {
        "", r#"{"a": [1, {"b": 2"# => r#"%{"a" => [1, %{"b" => 2}]}"#;
        "", r#""a": 1, "b": [2]}"# => r#"%{"a" => 1, "b" => [2]}"#;
        "", r#"{"a": [1, 2}"# => r#"%{"a" => [1, 2]}"#;
        "", r#"[{"a": 1, {"a": 2}]"# => r#"[%{"a" => 1}, %{"a" => 2}]"#;
        "{a {x :int}, b :int}", r#"{"a": {"x": 1, "b": 2}"# => r#"%{"a" => %{"x" => 1}, "b" => 2}"#;
        "{a {x :int}, b :int}", r#"{"a": {"x": 1}}, "b": 2}"# => r#"%{"a" => %{"x" => 1}, "b" => 2}"#;
        "{a [:int], b :int}", r#"{"a": [1, 2, "b": 3}"# => r#"%{"a" => [1, 2], "b" => 3}"#;
        "{a [:int], b :int}", r#"{"a": 1, 2], "b": 3}"# => "none";
        "[{a :int}]", r#"{"a": 1}, {"a": 2}]"# => r#"[%{"a" => 1}, %{"a" => 2}]"#;
        "[{a :int}]", r#"{"items": [{"a": 1} {"a": 2}]}"# => r#"%{"items" => [%{"a" => 1}, %{"a" => 2}]}"#;
        "{a :int}", r#"{{"a": 1}}"# => r#"%{"a" => 1}"#;
        "", r#"{"a": [}, "b": {], "c": 1}"# => r#"%{"a" => [], "b" => %{}, "c" => 1}"#;
        "{a :int, b :int}", r#"{"a": 1,}, "b": 2}"# => r#"%{"a" => 1, "b" => 2}"#;
        "", r#"{"# => "none";
        "", r#"{"a": ["# => "none";
        "", r#"{"a": "# => "none";
        // Cut off in a string, or before a required field.
        "", r#"{"a": "hello wor"# => "none";
        "{a :int, b :int}", r#"{"a": 1,"# => "none";
        "{a :int, b :int?}", r#"{"a": 1,"# => r#"%{"a" => 1}"#;
        "{a :int, b :int}", r#"{"a": 1,}"# => "none";
    }
}

cases! {
    types {
        "{user_id :int, zip_code :string?}", r#"{"userId": 1, "Zip Code": "x"}"# => r#"%{"user_id" => 1, "zip_code" => "x"}"#;
        "{user_id :int}", r#"{"USER-ID": 1}"# => r#"%{"user_id" => 1}"#;
        "{user_id :int, zip_code :int?}", r#"{"user-id": 1, "zipCode": 2}"# => r#"%{"user_id" => 1, "zip_code" => 2}"#;
        "{a-b :int?, a_b :int?}", r#"{"a_b": 1,}"# => r#"%{"a_b" => 1}"#;
        "{userid :int?, user_id :int?}", r#"{"userID": 1,}"# => r#"%{"userID" => 1}"#;
        "{tags [:string]}", r#"{"tags": "a"}"# => r#"%{"tags" => ["a"]}"#;
        "{tags [:string]}", r#"{"tags": "[draft] plan"}"# => r#"%{"tags" => ["[draft] plan"]}"#;
        "{tags [:string]}", r#"{"tags": "[\"a\", \"b\"]"}"# => r#"%{"tags" => ["a", "b"]}"#;
        "{o {n :int}}", r#"{"o": "{\"n\": 1}"}"# => r#"%{"o" => %{"n" => 1}}"#;
        "{n :int, f :float, b :bool}", r#"{"n": "42", "f": "1.5", "b": "true"}"# => r#"%{"b" => true, "f" => 1.5, "n" => 42}"#;
        "{n :int, f :float}", r#"{"n": "42 apples", "f": 1}"# => "none";
        "{n :int, f :float}", r#"{"n": 1, "f": "1.5 m"}"# => "none";
        "{n :int}", r#"{"n": 1.5}"# => "none";
        "{s :string}", r#"{"s": 5}"# => "%{\"s\" => \"5\"}";
        "{n :int}", r#"{"n": null}"# => "none";
        "{name :string, note :string}", "{name: Ada Lovelace, note: first, of all}" => r#"%{"name" => "Ada Lovelace", "note" => "first, of all"}"#;
    }
}

cases! {
    /// Typical answers of models.
    answers {
        "", "Here is the JSON:\n\n{'total': 3, 'ok': True}\n\nLet me know if you need more!" => r#"%{"ok" => true, "total" => 3}"#;
        "", "```json\n{\n  \"a\": 1,\n  \"b\": 2,\n}\n```\n\nThe field \"a\" is one." => r#"%{"a" => 1, "b" => 2}"#;
        "", "```python\nresult = {'a': None, 'b': [1, 2,]}\n```" => r#"%{"a" => nil, "b" => [1, 2]}"#;
        "", "```javascript\nconst x = {\n  a: 1,\n  b: 'two', // second\n};\n```" => r#"%{"a" => 1, "b" => "two"}"#;
        "", "```json\n{\"a\": [1, 2\n```" => r#"%{"a" => [1, 2]}"#;
        "", "```json\n{\"a\": 1,\n\"b\": 2,\n" => r#"%{"a" => 1, "b" => 2}"#;
        "", "**Answer:** {\"a\": 1,} (see above)" => r#"%{"a" => 1}"#;
        "", "{\"a\": **1**, **\"b\"**: 2}" => r#"%{"a" => 1, "b" => 2}"#;
        "{a :int}", "I first thought of {x: y} but then: {a: 5}" => r#"%{"a" => 5}"#;
        "{a :int}", "{\"a\": 1,}\n{\"a\": 1,}" => r#"%{"a" => 1}"#;
        "{a :int}", "First {\"a\": 1,} and then {\"a\": 2,}" => "ambiguous";
        "{a :int}", "I do not know." => "none";
        "{a :int}", "The answer is {unknown}." => "none";
        "", "I do not know." => "none";
        "", "Use {name} and [Note: see below]." => "none";
        "{code :string}", "{\"code\": \"```elixir\nIO.puts(\\\"x\\\")\n```\",}" => r#"%{"code" => "```elixir\nIO.puts(\"x\")\n```"}"#;
        "{summary :string, tags [:string]}", "{\n  \"summary\": \"Line one.\n\nLine two: \"quoted\", and more.\",\n  \"tags\": [\"a\", \"b\"]\n}" => r#"%{"summary" => "Line one.\n\nLine two: \"quoted\", and more.", "tags" => ["a", "b"]}"#;
        "{name :string, age :int}", "{\n  name: \"Ada\"\n  age: 36\n}" => r#"%{"age" => 36, "name" => "Ada"}"#;
        "{name :string, age :int}", "name: Ada, age: 36" => "none";
        "{a :int}", "\u{feff}{\u{a0}\"a\": 1,}" => r#"%{"a" => 1}"#;
    }
}

#[test]
fn different_values_at_the_same_cost() {
    let ambiguous = |text| matches!(read("", text), Err(Refusal::Ambiguous(_)));
    assert!(!ambiguous(r#"{"a": 1,}"#));
    let places = read("{a :int}", r#"{"a": 1,} {"a": 2,}"#);
    assert_eq!(places, Err(Refusal::Ambiguous(vec![10])));
}

#[test]
fn repairs_say_where() {
    let signature = parse(b"{rows [{user_id :int, name :string}]}").unwrap();
    let wanted = Wanted::new(AnswerType::new(signature.types, signature.returns, false));
    let heap = PlainHeap::new();
    let mut meter = Meter::new(FREE, Pace::Quantum);
    let text = "é: {\"rows\": [\n  {\"userId\": 1 \"name\": 'Ünal'},\n]}";
    let repaired = repair(text.as_bytes(), &wanted, &mut meter, &heap).unwrap();
    let name = |name: &str| PathPart::Name(name.into());
    let got: Vec<_> = repaired
        .repairs()
        .into_iter()
        .map(|repair| (repair.fault, repair.line, repair.column, repair.path))
        .collect();
    let rows = |last: &str| vec![name("rows"), PathPart::Index(0), name(last)];
    let wanted = vec![
        (Fault::KeySpelling, 2, 5, rows("user_id")),
        (Fault::MissingComma, 2, 15, rows("user_id")),
        (Fault::SingleQuotes, 2, 24, rows("name")),
        (Fault::TrailingComma, 2, 31, vec![name("rows")]),
    ];
    assert_eq!(got, wanted);
}

/// Texts of 20 kB that take minutes if a step scans all the remaining text.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let units = [
        "[",
        "{",
        "\"",
        "'",
        "`",
        "```",
        "{\"",
        "[\"a\" ",
        "{a:",
        "a ",
        "\\",
        "\"a\"b",
        ",",
        ":",
        "}",
        "]",
        "/*",
        "//",
        "#",
        "...",
        "{\"a\": \"b ",
        "[[\"x",
        "\"a\" \"b\", ",
        "1,234 ",
        "{'a':'b' ",
        "\n",
        "{x} ",
        "[\"[\\\"a\\\"]\" ",
        "[\"a,\"",
        "“",
        "\"\"\"",
    ];
    let signature = parse(b"{a [[:int]], b {a :string}?, rows [{x :any}]?}").unwrap();
    let answer_type = AnswerType::new(signature.types, signature.returns, false);
    let typed = Wanted::new(answer_type.clone());
    let strict = Wanted {
        at_end: AtEnd::CloseObjects,
        ..Wanted::new(answer_type)
    };
    let heap = PlainHeap::new();
    for wanted in [&typed, &strict, &Wanted::anything()] {
        for unit in units {
            for prefix in ["", "{\"a\": ", "[\"x\" "] {
                let text = format!("{prefix}{}", unit.repeat(20_000 / unit.len()));
                let mut meter = Meter::new(FREE, Pace::Quantum);
                let started = std::time::Instant::now();
                let _ = repair(text.as_bytes(), wanted, &mut meter, &heap);
                assert!(started.elapsed().as_secs() < 20, "{prefix}{unit}");
            }
        }
    }
}
