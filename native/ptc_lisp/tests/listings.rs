//! The instructions of some programs, as they stand in a golden file: a change of the compiler shows there what it does.

use ptc_lisp::analyze::analyze;
use ptc_lisp::compile::{compile, Texts};
use ptc_lisp::consts::FIRST_OWN;
use ptc_vm::listing::listing;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/listings.txt");

const PROGRAMS: &[&str] = &[
    "(+ 1 2)",
    "(if data/a (inc data/b) :none)",
    "(let [{:keys [id] :or {id 0}} data/row [a & more] data/xs] [id a more])",
    "(map :name data/people)",
    "(->> data/orders (filter #(> (:total %) 100)) (map :total) (reduce +))",
    "(loop [n 10 acc 1] (if (zero? n) acc (recur (dec n) (* acc n))))",
    "((fn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) 20)",
    "(reduce (fn [acc x] (conj acc (* x x))) [] data/xs)",
    "(defn vat [x] (* x rate)) (def rate 0.25) (vat 80)",
    "(for [x data/xs y [1 2] :when (odd? x)] [x y])",
    "(case data/kind :a 1 (:b :c) 2 0)",
    "(try (tool/price {:id 7}) (catch e (:message e)))",
    "(doseq [x data/xs] (println x)) (return {:n 1 \"s\" #{1}})",
    "(pmap #(tool/price {:id %}) data/ids)",
    "(-> data/m (assoc :a 1) (update :n (fnil inc 0)) (get-in [:a :b]))",
    "(and data/a (or data/b 2) (not data/c))",
];

fn listed(source: &str) -> String {
    let analyzed = analyze(source, &[]).expect("a program");
    let texts = Texts {
        program: source,
        added: &[],
    };
    let compiled = compile(&analyzed, &texts, &[]).expect("a program");
    let own = compiled.constants.iter().enumerate();
    let constants: Vec<_> = own
        .map(|(at, constant)| (FIRST_OWN + at as u32, format!("{constant:?}")))
        .collect();
    format!("{source}\n\n{}\n", listing(&compiled.program, &constants))
}

#[test]
fn are_those_of_the_golden_file() {
    let wanted: String = PROGRAMS.iter().map(|source| listed(source)).collect();
    crate::written::assert_written(FILE, &wanted, "-p ptc_lisp listings::");
}
