//! Programs that are long, deep or broken: they take linear time, need no stack, and never panic.

use crate::eterm::Term;
use ptc_lisp::analyze::analyze;
use ptc_lisp::ast::{Analyzed, Problem};
use ptc_lisp::compile::children;
use std::time::{Duration, Instant};

/// Steps of a chain.
const LONG: usize = 50_000;
/// What takes longer is not linear: each program here takes less than a second.
const LONGEST: Duration = Duration::from_secs(15);

/// Analyzes on a thread with a small stack, within the time.
fn quickly(source: String) -> Result<Analyzed, Problem> {
    let begin: String = source.chars().take(40).collect();
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let begun = Instant::now();
    let thread = thread.spawn(move || {
        let analyzed = analyze(&source, &[]);
        if let Ok(analyzed) = &analyzed {
            check(analyzed, &source);
        }
        analyzed
    });
    let analyzed = thread.expect("a thread").join().expect("no panic");
    let time = begun.elapsed();
    assert!(time < LONGEST, "{begin} took {time:?}");
    analyzed
}

/// Checks that all that a program refers to exists.
fn check(program: &Analyzed, source: &str) {
    let count = program.exprs.len() as u32;
    assert_eq!(program.spans.len() as u32, count);
    for span in &program.spans {
        assert!(span.start <= span.end && span.end as usize <= source.len());
    }
    for (id, expr) in program.exprs.iter().enumerate() {
        // An expression stands behind its parts.
        children(expr, &mut |child| assert!(child < id as u32));
    }
    for function in &program.functions {
        assert!(function.body < count);
        assert!(function
            .parent
            .is_none_or(|parent| (parent as usize) < program.functions.len()));
    }
    let lists = [&program.unbound, &program.tools, &program.defined];
    for name in lists.into_iter().flatten() {
        assert!((*name as usize) < program.names.len());
    }
}

fn taken(source: String) -> Analyzed {
    quickly(source).unwrap_or_else(|problem| panic!("{problem:?}"))
}

#[test]
fn chains() {
    let again = |text: &str| text.repeat(LONG);
    taken(format!("(-> 1 {})", again("inc ")));
    taken(format!("(->> 1 {})", again("(+ 1) ")));
    taken(format!("(-> a {})", again("(or 5)")));
    taken(format!("(->> a {})", again("(let [b 1])")));
    taken(format!("(->> a {})", again("(do)")));
    taken(format!("(->> a {})", again("(if b c)")));
    taken(format!(
        "(-> (do {}) {})",
        again("(def a 1)"),
        again("(do 1)")
    ));
    taken(format!("(-> [a 1] (let 1) {})", again("(when 2)")));
    taken(format!("(some-> a {})", again("b ")));
    taken(format!("(cond->> a {})", again("b (f) ")));
    taken(format!("(as-> a b {})", again("(f b) ")));
    taken(format!("(cond {})", again("a b ")));
    taken(format!("(and {})", again("a ")));
    taken(format!("(or {})", again("a ")));
    taken(format!("(do {})", again("a ")));
    taken(format!("(f {})", again("(g) ")));
    taken(format!("(case a {})", again("1 b ")));
    taken(format!("(case a ({}) 1)", again(":b ")));
    taken(format!("(condp f a {})", again("1 b ")));
    taken(format!("(let [{}] a)", again("a (f a) ")));
    taken(format!("(let [{}] a)", again("[a b] (def c 1) ")));
    taken(format!(
        "(loop [] {})",
        again("(loop [a (recur2)] (recur a)) ")
    ));
    taken(format!("(for [{}] a)", again("a [1] :let [b a] :when b ")));
    taken(format!("(fn [{}] a)", again("a ")));
    taken(format!("(let [{{:keys [{}]}} {{}}] a)", again("a ")));
    taken(format!(
        "(let [{{:keys [b] :or {{{}}}}} {{}}] b)",
        again("a 1 ")
    ));
    taken(format!("(try {} (catch e {}))", again("a "), again("b ")));
    taken(again("(defn f [x] (g x)) "));
    taken(again("#(f % %2)"));
}

#[test]
fn functions_that_threading_nests_do_not_write_their_texts_again_and_again() {
    let program = taken(format!("(->> 1 {})", "(fn [])".repeat(LONG)));
    let texts = program
        .functions
        .iter()
        .filter_map(|it| it.threaded.as_ref());
    let bytes: usize = texts.map(String::len).sum();
    assert!(bytes < 10 * LONG * 7, "{bytes} bytes");
}

#[test]
fn names() {
    let numbered = |make: fn(usize) -> String| (0..LONG).map(make).collect::<String>();
    let program = taken(numbered(|n| format!("(def a{n} b{n})")));
    assert_eq!((program.defined.len(), program.unbound.len()), (LONG, LONG));
    assert_eq!(program.symbols, 2 * LONG + 1);
    taken(format!("{{{}}}", numbered(|n| format!(":k{n} {n} "))));
    taken(format!(
        "#{{{}}}",
        numbered(|n| format!("[{n} {{a #{{{n}}}}}] "))
    ));
    taken(numbered(|n| format!("(tool/t{n} {{:a data/d{n}}})")));
    taken(format!("(let [{}] a1)", numbered(|n| format!("a{n} {n} "))));
}

#[test]
fn texts() {
    let again = |text: &str| text.repeat(1_000_000 / text.len());
    assert_eq!(taken(format!("\"{}\"", again("\\n"))).exprs.len(), 1);
    taken(again(","));
    taken(again("; (\n"));
    taken(again(")"));
    taken(again("\\("));
    taken(again("\"'(\" "));
    for source in [
        again("("),
        again("#("),
        again("[{"),
        again("\"\\"),
        format!("\"{}", again("\\\"")),
        format!("@a {}", again("\"\\\"")),
        again("'("),
        again("\"\n; \"@a"),
        again("1"),
        again("{1 "),
        again("é"),
        format!("1.{}e999", again("9")),
    ] {
        let problem = quickly(source).expect_err("no program");
        assert_eq!(problem.reason, "parse_error");
        let Problem { parts, .. } = problem;
        assert!(format!("{parts:?}").len() < 1000);
    }
}

#[test]
fn long_names_make_short_messages() {
    let long = "a".repeat(1_000_000);
    for source in [
        format!("({long}/b)"),
        format!("(str/{long})"),
        format!("(core/{long})"),
        format!("(.{long} 1)"),
        format!("(def a/{long} 1)"),
        format!("(defn {long} 1)"),
        format!("(budget/{long})"),
        format!("(for [x [1] :{long} 1] 1)"),
        format!("(for [[{long}] 5] 1)"),
        format!("#(%{})", "1".repeat(1_000_000)),
        format!("{{\"{long}\" 1 \"{long}\" 2}}"),
        format!("{{{long} 1 {long} 2}}"),
        format!("(let [[{long} :a] 1] 2)"),
        format!("(case 1 {long} 2)"),
    ] {
        let problem = quickly(source).expect_err("no program");
        let parts = format!("{:?}", problem.parts);
        assert!(
            parts.len() < 4_000,
            "{}: {} bytes",
            problem.code,
            parts.len()
        );
    }
}

/// A generator of numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn sources() -> Vec<String> {
    let cases = crate::eterm::cases();
    let sources = cases.iter().filter_map(|(_, case)| case.get("source"));
    sources
        .map(|source| Term::text(source).to_string())
        .collect()
}

#[test]
fn broken_programs_do_not_panic() {
    let sources = sources();
    let mut random = Random(0x5EED);
    for _ in 0..60_000 {
        let mut text = sources[random.below(sources.len())].clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            let end = at + random.below(text.len() - at);
            match random.below(5) {
                0 => drop(text.drain(at..end)),
                1 => {
                    let part = text[at..end].to_vec();
                    let place = random.below(text.len());
                    text.splice(place..place, part);
                }
                2 => {
                    let other = sources[random.below(sources.len())].as_bytes();
                    let start = random.below(other.len());
                    let length = random.below(other.len() - start).min(30);
                    text.splice(at..at, other[start..start + length].iter().copied());
                }
                3 => {
                    let pieces = [
                        "(", ")", "[", "]", "{", "}", "#", "%", "&", "\"", "'", ":", "\\", "-> ",
                        "recur ",
                    ];
                    text.splice(at..at, pieces[random.below(pieces.len())].bytes());
                }
                _ if !text.is_empty() => text[at] = random.below(256) as u8,
                _ => {}
            }
        }
        let text = String::from_utf8_lossy(&text);
        match analyze(&text, &[]) {
            Ok(analyzed) => check(&analyzed, &text),
            Err(problem) => {
                let at = problem.at.start as usize..problem.at.end as usize;
                assert!(
                    at.start <= at.end && at.end <= text.len(),
                    "{text:?}: {problem:?}"
                );
            }
        }
    }
}

#[test]
fn random_texts_do_not_panic() {
    let mut random = Random(0xACE);
    let pieces: Vec<&str> = "( ) [ ] { } #{ #( % %2 %& & fn let loop recur if do def defn for doseq -> ->> cond-> some-> as-> \
                             case condp try catch :keys :or :as :when x y 1 \"s\" #\"r\" 'q tool/t data/d a/b quote . .m"
        .split(' ')
        .collect();
    for _ in 0..20_000 {
        let count = random.below(24);
        let words = (0..count).map(|_| pieces[random.below(pieces.len())]);
        let mut text = words.collect::<Vec<_>>().join(" ");
        // Brackets that balance reach the analysis.
        let mut open = Vec::new();
        for byte in text.clone().bytes() {
            match byte {
                b'(' => open.push(')'),
                b'[' => open.push(']'),
                b'{' => open.push('}'),
                b')' | b']' | b'}' if open.last() == Some(&char::from(byte)) => drop(open.pop()),
                _ => {}
            }
        }
        text.extend(open.into_iter().rev());
        if let Ok(analyzed) = analyze(&text, &[]) {
            check(&analyzed, &text);
        }
    }
}
