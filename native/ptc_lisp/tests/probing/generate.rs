//! Programs made of bytes: each byte is a choice, so that a fuzzer which changes a byte changes a part of the program.

use ptc_lisp::table::{Row, ROWS};

/// How deep expressions are nested.
const DEEPEST: usize = 6;
/// Names that programs bind and read.
const NAMES: &[&str] = &["a", "b", "f", "xs"];
const LITERALS: &[&str] = &[
    "nil",
    "true",
    "false",
    "0",
    "1",
    "-2",
    "3.5",
    "7",
    "100",
    "99999999999999999999",
    "##Inf",
    "##NaN",
    "\"\"",
    "\"a\"",
    "\"é, b\"",
    "\"12\"",
    "\\a",
    ":a",
    ":b",
    ":count",
    "[]",
    "[1 2 3]",
    "{}",
    "#{}",
    "{:a 1 \"b\" 2}",
    "#{1 :a}",
    "[[1 2] [3 4]]",
    "[{:a 1} {:a 2 :b 3}]",
    "data/a",
    "data/b",
    "data/c",
    "inc",
    "+",
    "str",
    "identity",
    "first",
    "#\"a+\"",
    "'q",
    "*1",
];

/// The choices that are left.
pub struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    /// Takes choices from bytes.
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes }
    }

    /// A number below `end`; without bytes it is 0.
    fn below(&mut self, end: usize) -> usize {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                usize::from(*byte) % end
            }
            None => 0,
        }
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// A program: some definitions, and an expression.
pub fn program(bytes: &[u8]) -> String {
    let mut choices = Choices::new(bytes);
    let mut text = String::new();
    for _ in 0..choices.below(3) {
        let name = choices.pick(NAMES);
        let value = expr(&mut choices, 1);
        text += &format!("(def {name} {value})\n");
    }
    text += &expr(&mut choices, 0);
    text
}

fn expr(choices: &mut Choices, depth: usize) -> String {
    if depth >= DEEPEST || choices.is_over() {
        return choices.pick(LITERALS).to_string();
    }
    let next = |choices: &mut Choices| expr(choices, depth + 1);
    let kind = choices.below(32);
    let name = choices.pick(NAMES);
    match kind {
        0..=2 => choices.pick(LITERALS).to_string(),
        3 => format!(
            "(let [{name} {}] {})",
            next(choices),
            named(choices, name, depth)
        ),
        4 => format!("(let [[{name} & more] {}] [{name} more])", next(choices)),
        5 => format!(
            "(let [{{:keys [{name}] :or {{{name} 1}}}} {}] {name})",
            next(choices)
        ),
        6 => format!("(if {} {} {})", next(choices), next(choices), next(choices)),
        7 => format!(
            "(loop [{name} {} n 0] (if (< n 3) (recur {} (inc n)) {name}))",
            next(choices),
            named(choices, name, depth)
        ),
        8 => format!(
            "((fn [{name}] {}) {})",
            named(choices, name, depth),
            next(choices)
        ),
        9 => format!(
            "(map (fn [{name}] {}) {})",
            named(choices, name, depth),
            next(choices)
        ),
        10 => format!("(filter #(= % {}) {})", next(choices), next(choices)),
        11 => format!(
            "(reduce (fn [{name} x] {}) {} {})",
            named(choices, name, depth),
            next(choices),
            next(choices)
        ),
        12 => format!(
            "(for [{name} {} :when {name}] {})",
            next(choices),
            named(choices, name, depth)
        ),
        13 => format!("(->> {} (map inc) (take 3))", next(choices)),
        14 => format!("[{} {}]", next(choices), next(choices)),
        15 => format!("{{:a {} {} 1}}", next(choices), next(choices)),
        16 => format!("(and {} {})", next(choices), next(choices)),
        17 => format!("(or {} {})", next(choices), next(choices)),
        18 => format!("(try {} (catch e {}))", next(choices), next(choices)),
        19 => format!("(do (println {}) {})", next(choices), next(choices)),
        20 => format!(
            "(case {} 1 {} (:a :b) 2 {})",
            next(choices),
            next(choices),
            next(choices)
        ),
        21 => format!("({} {})", next(choices), next(choices)),
        22 => format!("(apply {} {})", next(choices), next(choices)),
        23 => format!("(do (def {name} {}) {name})", next(choices)),
        24 => format!(
            "((juxt {} {}) {})",
            next(choices),
            next(choices),
            next(choices)
        ),
        _ => call(choices, depth),
    }
}

/// An expression in which a name is bound: sometimes the name itself.
fn named(choices: &mut Choices, name: &str, depth: usize) -> String {
    match choices.below(3) {
        0 => name.to_string(),
        1 => format!("(conj [{name}] {})", expr(choices, depth + 1)),
        _ => expr(choices, depth + 1),
    }
}

/// A call of any built-in, with a number of arguments that it takes, or once in a while with another.
fn call(choices: &mut Choices, depth: usize) -> String {
    let at = choices.below(256) * 256 + choices.below(256);
    let row: &Row = &ROWS[at % ROWS.len()];
    let most = row.most.min(row.least + 2);
    let mut count = row.least + choices.below((most - row.least + 1) as usize) as u32;
    if choices.below(16) == 15 {
        count = choices.below(4) as u32;
    }
    let arguments: String = (0..count)
        .map(|_| format!(" {}", expr(choices, depth + 1)))
        .collect();
    format!("({}{arguments})", row.name)
}
