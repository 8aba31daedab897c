//! The golden cases: which programs the analysis takes, and why it refuses the others.

use crate::eterm::Term;
use ptc_lisp::analyze::analyze;
use ptc_lisp::ast::{Analyzed, Expr, Literal};

/// The reasons of errors that a program has before it runs.
const BEFORE: [&str; 9] = [
    "parse_error",
    "invalid_arity",
    "invalid_form",
    "invalid_cond_form",
    "invalid_thread_form",
    "duplicate_key",
    "unsupported_pattern",
    "invalid_placeholder",
    "unsupported_method",
];

#[test]
fn programs_are_taken_or_refused_for_their_reason() {
    let mut wrong = Vec::new();
    let cases = crate::eterm::cases();
    assert!(cases.len() > 4000, "{} cases", cases.len());
    for (_, case) in &cases {
        let setup = case.get("setup").map_or(&[][..], Term::items);
        for program in setup {
            if let Err(problem) = analyze(program.text(), &[]) {
                wrong.push(format!("{}: {problem:?}", program.text()));
            }
        }
        if let Err(text) = check(case) {
            let id = case.get("id").map_or("", Term::text);
            wrong.push(format!("{id}: {text}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn check(case: &Term) -> Result<(), String> {
    let source = case.get("source").map_or("", Term::text);
    let expect = case.get("expect").expect("an expectation").items();
    let reason = match expect[0].is_atom("ok") {
        true => "ok",
        false => expect[1].get("reason").map_or("", Term::text),
    };
    let analyzed = match (analyze(source, &[]), BEFORE.contains(&reason)) {
        (Ok(analyzed), false) => analyzed,
        (Err(problem), true) if problem.reason == reason => return Ok(()),
        (Ok(analyzed), true) if is_left_to_the_caller(case, &analyzed) => return Ok(()),
        (Ok(_), true) => return Err(format!("{source} must be {reason}")),
        (Err(problem), _) => return Err(format!("{source} must be {reason}: {problem:?}")),
    };
    let names: Vec<&str> = memory_names(case);
    let unknown = analyzed
        .unbound
        .iter()
        .map(|name| &analyzed.names[*name as usize]);
    let unknown: Vec<&str> = unknown
        .map(String::as_str)
        .filter(|name| !names.contains(name))
        .collect();
    let has_setup = case.get("setup").is_some();
    match (reason, unknown.is_empty()) {
        ("unbound_var", false) => {
            let message = expect[1].get("message").map_or("", Term::text);
            match message.ends_with(&format!(": {}", unknown.join(", "))) {
                true => Ok(()),
                false => Err(format!("{source} names {unknown:?}, not {message}")),
            }
        }
        ("unbound_var", true) => Err(format!("{source} names nothing that is unknown")),
        (_, false) if !has_setup => Err(format!("{source} names {unknown:?}")),
        ("unknown_tool", _) if analyzed.tools.is_empty() => Err(format!("{source} names no tool")),
        _ => Ok(()),
    }
}

/// Regular expressions are compiled by the caller, and signatures are not part of a program.
fn is_left_to_the_caller(case: &Term, analyzed: &Analyzed) -> bool {
    let has_regex =
        (analyzed.exprs.iter()).any(|expr| matches!(expr, Expr::Const(Literal::Regex(_))));
    let has_options = case
        .get("opts")
        .is_some_and(|opts| !opts.items().is_empty());
    has_regex || has_options
}

fn memory_names(case: &Term) -> Vec<&str> {
    match case.get("memory") {
        Some(Term::Map(pairs)) => pairs.iter().map(|(key, _)| key.text()).collect(),
        _ => Vec::new(),
    }
}
