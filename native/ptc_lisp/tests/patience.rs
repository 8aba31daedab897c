//! The compilation of a long program ends soon after it is told to, wherever it is.

use ptc_lisp::analyze::{analyze_until, Added};
use ptc_lisp::ast::Problem;
use ptc_lisp::compile::{compile_until, Texts};
use ptc_lisp::patience::Patience;

/// Bytes of a program between two questions, at most: a step is a form, which may be long, but not in these programs.
const BYTES_BETWEEN: usize = 8 * 1_024;

/// Compiles; says how often it has asked whether it must end, which it must from this question on.
fn compiled(program: &str, added: &[Added], most: usize) -> (Result<(), Problem>, usize) {
    let mut asked = 0;
    let mut is_over = || {
        asked += 1;
        asked > most
    };
    let mut patience = Patience::new(&mut is_over);
    let texts = Texts { program, added };
    let made = analyze_until(program, added, usize::MAX, &mut patience).and_then(|analyzed| {
        compile_until(&analyzed, &texts, &[], (true, &mut patience)).map(|_| ())
    });
    (made, asked)
}

fn ends_at_once(program: &str, added: &[Added]) {
    let (made, all) = compiled(program, added, usize::MAX);
    assert_eq!(made, Ok(()));
    let bytes = program.len() + added.iter().map(|it| it.source.len()).sum::<usize>();
    assert!(all > 3 * bytes / BYTES_BETWEEN, "{all} questions");
    for most in 0..all {
        let (made, asked) = compiled(program, added, most);
        assert!(made.is_err_and(|problem| problem.is_out_of_time()));
        // It does not go on with another part.
        assert_eq!(asked, most + 1);
    }
}

#[test]
fn a_compilation_ends_at_each_question() {
    let numbered = |count, make: fn(usize) -> String| (0..count).map(make).collect::<String>();
    ends_at_once(&"(map #(+ % 1) [1 2 3]) ".repeat(500), &[]);
    ends_at_once(&numbered(1_000, |n| format!("(def a{n} (+ {n} 1)) ")), &[]);
    ends_at_once(
        &numbered(1_000, |n| format!("(defn f{n} [x] (g x :k{n})) ")),
        &[],
    );
    ends_at_once(&format!("[{}]", "\"text\" ".repeat(2_500)), &[]);
}

#[test]
fn functions_of_the_memory_are_no_exception() {
    let source = format!("(fn [x] {})", "(inc x) ".repeat(2_500));
    let added = [Added {
        source: &source,
        captured: &[],
    }];
    ends_at_once("(f 1)", &added);
}
