//! Arithmetic, bits, and predicates.

use crate::expected::{fails, same};
use crate::running::Run;
use ptc_term::meter::Limits;

#[test]
fn sums_and_products() {
    same(&[
        (
            "[(+) (*) (+ 5) (* 5) (- 5) (/ 4)]",
            "[0, 1, 5, 5, -5, 0.25]",
        ),
        ("(+ 9223372036854775807 1)", "9223372036854775808"),
        ("(- -9223372036854775808)", "9223372036854775808"),
        (
            "(* 123456789 987654321 123456789)",
            "15053411111487447638891241",
        ),
        (
            "[(+ 1 2.5) (- 1.5 1) (* 2 0.5) (/ 6 3)]",
            "[3.5, 0.5, 1.0, 2.0]",
        ),
        (
            "[(+ ##Inf 1) (+ ##Inf ##-Inf) (* 0 ##Inf) (* -1 ##Inf)]",
            "[:infinity, :nan, :nan, :negative_infinity]",
        ),
        (
            "[(/ 1 0.0) (/ -1 0.0) (/ 0.0 0.0) (/ 1 ##Inf) (/ ##Inf ##Inf)]",
            "[:infinity, :negative_infinity, :nan, 0.0, :nan]",
        ),
        (
            "[(+ ##NaN \"a\") (+' 1 2 3) (-' 1) (*' 2 3)]",
            "[:nan, 6, -1, 6]",
        ),
        (
            "[(inc 9223372036854775807) (dec 0.5) (inc ##Inf)]",
            "[9223372036854775808, -0.5, :infinity]",
        ),
        ("(apply + (range 1000))", "499500"),
        ("(apply max (range 200))", "199"),
        (
            "[(max 1 1.0) (max 1.0 1) (min \"a\" 1) (max nil 1) (max ##NaN 1) (min 1 ##-Inf)]",
            "[1, 1.0, 1, nil, :nan, :negative_infinity]",
        ),
    ]);
    fails(&[
        ("(+ nil)", "expected_number +  nil"),
        ("(+ 1 2 \"3\")", "not_a_number + 3 \"3\""),
        ("(+ \"a\" 1)", "not_a_number + 1 \"a\""),
        ("(- true)", "not_a_number - 1 true"),
        ("(inc nil)", "not_a_number inc 1 nil"),
        ("(/ 5 2 0)", "division_by_zero /"),
        ("(/ 0)", "division_by_zero /"),
        ("(* 1e300 1e300)", "number_too_large *"),
        ("(-')", "at_least_one -'  0, 1, -1"),
    ]);
}

#[test]
fn division_and_rounding() {
    same(&[
        (
            "[(mod -7 2) (mod 7 -2) (mod -7 -2) (mod 7.5 2) (mod -7.5 2)]",
            "[1, -1, -1, 1.5, 0.5]",
        ),
        (
            "[(rem -7 3) (rem 7.5 -2) (quot 7 -2) (quot 7.9 2) (quot 1e20 3)]",
            "[-1, 1.5, -3, 3, 33333333333333331968]",
        ),
        (
            "[(quot -9223372036854775808 -1) (rem -9223372036854775808 -1)]",
            "[9223372036854775808, 0]",
        ),
        ("[(mod 1 ##Inf) (quot ##Inf 1)]", "[:nan, :nan]"),
        (
            "[(floor -0.5) (ceil 1.2) (round -2.5) (round 0.5) (trunc -2.5)]",
            "[-1, 2, -3, 1, -2]",
        ),
        ("(round 1e20)", "100000000000000000000"),
        (
            "[(round ##Inf) (floor ##NaN) (abs ##-Inf) (abs -3) (abs 2.5)]",
            "[:infinity, :nan, :infinity, 3, 2.5]",
        ),
        (
            "[(int 5.9) (int -5.9) (int \"x\") (int \"é\") (int ##NaN)]",
            "[5, -5, 120, 233, 0]",
        ),
        (
            "[(sqrt 16) (sqrt -1) (sqrt ##Inf) (double 5)]",
            "[4.0, :nan, :infinity, 5.0]",
        ),
        (
            "[(pow 2 3) (pow 7 -2) (pow 0 0) (pow 1 ##Inf) (pow ##NaN 0) (pow 10 400)]",
            "[8.0, 0.02040816326530612, 1.0, :nan, 1.0, :infinity]",
        ),
    ]);
    fails(&[
        ("(mod 7 0.0)", "division_by_zero mod"),
        ("(quot 1 0)", "division_by_zero quot"),
        ("(mod nil 2)", "not_a_number mod 1 nil"),
        ("(int 1e10)", "int_overflow int  10000000000.0"),
        ("(int ##Inf)", "int_of_infinity int  :infinity"),
        ("(int \"ab\")", "not_a_number int 1 \"ab\""),
        ("(pow 1 \"a\")", "not_a_number pow 2 \"a\""),
    ]);
}

#[test]
fn bits() {
    same(&[
        ("[(bit-and 12 10 8) (bit-or 5 -1) (bit-xor 5 3 1) (bit-and-not 5 -1) (bit-not 5)]", "[8, -1, 7, 0, -6]"),
        ("[(bit-shift-left 1 100) (bit-shift-left -1 3) (bit-shift-right -5 1) (bit-shift-right 1 1000000000000000000000)]",
         "[1267650600228229401496703205376, -8, -3, 0]"),
        ("[(bit-set 12 10) (bit-clear 1 70) (bit-flip 1 70) (bit-test -1 100) (bit-test 5 1)]",
         "[1036, 1, 1180591620717411303425, true, false]"),
        ("[(bit-clear -1 70) (bit-set -1 70) (bit-flip -1 3) (bit-shift-left 1 63)]",
         "[-1180591620717411303425, -1, -9, 9223372036854775808]"),
        ("(bit-shift-left 0 1000000000000)", "0"),
    ]);
    fails(&[
        ("(bit-and 1)", "at_least_two bit-and  1"),
        ("(bit-and 1 1.5)", "not_integer bit-and  1.5"),
        ("(bit-shift-left 1 -1)", "shift_amount bit-shift-left  -1"),
    ]);
}

#[test]
fn no_integer_is_longer_than_any_heap_has_one() {
    fails(&[
        (
            "(bit-shift-left 1 1000000000)",
            "number_too_large bit-shift-left",
        ),
        (
            "(bit-set 0 100000000000000000000000)",
            "number_too_large bit-set",
        ),
    ]);
}

#[test]
fn a_shift_beyond_the_heap_is_refused() {
    for source in [
        "(bit-shift-left 1 1000000000)",
        "(bit-set 0 1000000000)",
        "(bit-shift-left 1 100000000000000000000000)",
    ] {
        let run = Run {
            source,
            context: &[],
            units: 1_000_000,
            limits: Limits {
                words: 1_250_000,
                ..Limits::UNLIMITED
            },
        };
        assert_eq!(run.run().end, Err("MemoryExceeded".to_string()), "{source}");
    }
}

#[test]
fn predicates() {
    same(&[
        ("(for [x [2 2.0 2.5 3 nil ##Inf 123456789012345678901234567890]] (even? x))",
         "[true, true, false, false, false, false, true]"),
        ("(for [x [1 0 -0.0 ##Inf ##NaN \"a\" -123456789012345678901234567890]] (pos? x))",
         "[true, false, false, true, false, false, false]"),
        ("(for [x [nil true 1 ##NaN \"a\" :a [] {} #{} inc #\"a\" 'a]] (type x))",
         "[nil, :boolean, :number, :number, :string, :keyword, :vector, :map, :set, :function, :regex, :unknown]"),
        ("(for [x [0 1 -1 1.0 123456789012345678901234567890 -123456789012345678901234567890]] (nat-int? x))",
         "[true, true, false, false, true, false]"),
        ("(for [x [inc :a {} #{} [] nil ##Inf]] (ifn? x))", "[true, true, true, true, false, false, false]"),
        ("[(parse-long \"+42\") (parse-long \"4.2\") (parse-double \"5\") (parse-double \"Infinity\") (parse-boolean \"true\")]",
         "[42, nil, 5.0, :infinity, true]"),
    ]);
}
