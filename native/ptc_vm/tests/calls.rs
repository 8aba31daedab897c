//! Functions, recursion and built-ins that call back, in a language of a few instructions.

mod toy;

use ptc_term::meter::Limits;
use ptc_vm::program::{Instr, Pc};
use ptc_vm::verify::{verify, Broken};
use toy::{program, run, Own, Toy, MAP, QUESTION, TOOL};

type Code = Vec<Instr<Toy>>;

/// The number of the constant that is the list 1, 2, 3.
const fn list_after(numbers: u32) -> u32 {
    numbers
}

/// `f(n) = if n == 0 then 0 else 1 + f(n - 1)`, applied to the third constant; the constants are 1, -1 and it.
fn recursion() -> (Code, Pc) {
    let entry = 5;
    let code = vec![
        Instr::Nil,
        Instr::Own(Own::Function(entry, 2)),
        Instr::Const(2),
        Instr::Invoke(1),
        Instr::Done,
        // Slot 0 is the argument, slot 1 the function itself.
        Instr::Own(Own::IsZero(0)),
        Instr::JumpIf { when: true, to: 15 },
        Instr::Const(0),
        Instr::Slot(1),
        Instr::Slot(0),
        Instr::Const(1),
        Instr::Own(Own::Add),
        Instr::Invoke(1),
        Instr::Own(Own::Add),
        Instr::Return,
        Instr::Slot(0),
        Instr::Return,
    ];
    (code, entry)
}

/// `map(f, [1, 2, 3])`, where `f(x) = t(x) + captured` and `t` is the function value in the third constant.
fn mapping(through: u32) -> (Code, Pc) {
    let entry = 6;
    let code = vec![
        Instr::Const(0),
        Instr::Const(1),
        Instr::Own(Own::Function(entry, 2)),
        Instr::Const(list_after(3)),
        Instr::Invoke(2),
        Instr::Done,
        Instr::Const(through),
        Instr::Slot(0),
        Instr::Invoke(1),
        Instr::Own(Own::Captured(1)),
        Instr::Own(Own::Add),
        Instr::Return,
    ];
    (code, entry)
}

#[test]
fn a_recursion_is_as_deep_as_memory_permits() {
    let (code, entry) = recursion();
    let program = program(code, 2);
    assert_eq!(verify(&program, &[entry], 4), Ok(()));
    for units in [usize::MAX >> 2, 1_000, 1] {
        let ended = run(&program, &[1, -1, 100_000], units, Limits::UNLIMITED);
        assert_eq!(ended.end.as_deref(), Ok("100000"));
        assert_eq!(ended.suspensions == 0, units > 1_000);
    }
    let limits = Limits {
        words: 100_000,
        ..Limits::UNLIMITED
    };
    let ended = run(&program, &[1, -1, 100_000], 1_000, limits);
    assert_eq!(ended.end, Err("MemoryExceeded".to_string()));
}

#[test]
fn a_built_in_calls_a_function_that_calls_a_tool() {
    let (code, entry) = mapping(2);
    let program = program(code, 2);
    assert_eq!(verify(&program, &[entry], 4), Ok(()));
    for (function, calls) in [
        (TOOL, ["1", "2", "3"]),
        (QUESTION, ["7? 1", "7? 2", "7? 3"]),
    ] {
        let whole = run(
            &program,
            &[MAP, 10, function],
            usize::MAX >> 2,
            Limits::UNLIMITED,
        );
        assert_eq!(whole.end.as_deref(), Ok("[12, 13, 14]"));
        assert_eq!(whole.calls, calls);
        for units in 1..40 {
            let ended = run(&program, &[MAP, 10, function], units, Limits::UNLIMITED);
            assert_eq!((&ended.end, &ended.calls), (&whole.end, &whole.calls));
        }
        let ended = run(&program, &[MAP, 10, function], 1, Limits::UNLIMITED);
        assert!(ended.suspensions > 20);
    }
}

/// `f(n)(x) = if n == 0 then x else map(f(n - 1), [1, 2, 3])`, applied so often as the third constant says.
#[test]
fn built_ins_call_each_other_deeper_than_their_states_are_at_hand() {
    let entry = 6;
    let code = vec![
        Instr::Const(0),
        Instr::Const(2),
        Instr::Own(Own::Function(entry, 3)),
        Instr::Const(list_after(3)),
        Instr::Invoke(2),
        Instr::Done,
        Instr::Own(Own::Captured(1)),
        Instr::Store(2),
        Instr::Own(Own::IsZero(2)),
        Instr::JumpIf { when: true, to: 17 },
        Instr::Const(0),
        Instr::Slot(2),
        Instr::Const(1),
        Instr::Own(Own::Add),
        Instr::Own(Own::Function(entry, 3)),
        Instr::Const(list_after(3)),
        Instr::Jump(19),
        Instr::Slot(0),
        Instr::Return,
        Instr::Invoke(2),
        Instr::Return,
    ];
    let program = program(code, 3);
    assert_eq!(verify(&program, &[entry], 4), Ok(()));
    let whole = run(&program, &[MAP, -1, 9], usize::MAX >> 2, Limits::UNLIMITED);
    let value = whole.end.clone().expect("a value");
    assert_eq!(value.matches("[1, 2, 3]").count(), 3usize.pow(9));
    for units in [10_000, 100] {
        let ended = run(&program, &[MAP, -1, 9], units, Limits::UNLIMITED);
        assert!(ended.suspensions > 20);
        assert_eq!(ended.end, whole.end);
    }
}

#[test]
fn a_tool_is_a_function_value() {
    // `map(t, [1, 2, 3])`, and the same of a function that is none.
    let code = vec![
        Instr::Const(0),
        Instr::Const(1),
        Instr::Const(list_after(2)),
        Instr::Invoke(2),
        Instr::Done,
    ];
    let program = program(code, 1);
    for units in [1_000, 2, 1] {
        let ended = run(&program, &[MAP, TOOL], units, Limits::UNLIMITED);
        assert_eq!(ended.end.as_deref(), Ok("[2, 3, 4]"));
        assert_eq!(ended.calls, ["1", "2", "3"]);
        let ended = run(&program, &[MAP, 5], units, Limits::UNLIMITED);
        assert_eq!(ended.end, Err("call".to_string()));
    }
}

#[test]
fn a_broken_program_is_found() {
    let broken = |code: Code| verify(&program(code, 2), &[], 1);
    assert_eq!(broken(vec![Instr::Nil, Instr::Done]), Ok(()));
    assert_eq!(broken(vec![Instr::Nil]), Err(Broken::Target(0)));
    assert_eq!(broken(vec![Instr::Jump(9)]), Err(Broken::Target(0)));
    assert_eq!(
        broken(vec![Instr::Slot(2), Instr::Done]),
        Err(Broken::Slot(0))
    );
    assert_eq!(
        broken(vec![Instr::Const(1), Instr::Done]),
        Err(Broken::Const(0))
    );
    assert_eq!(broken(vec![Instr::Done]), Err(Broken::Depth(0)));
    assert_eq!(
        broken(vec![Instr::Nil, Instr::Invoke(1), Instr::Done]),
        Err(Broken::Depth(1))
    );
    assert_eq!(
        broken(vec![Instr::Nil, Instr::Next(0), Instr::Done]),
        Err(Broken::Loop(1))
    );
    let to = 3;
    let joins = vec![
        Instr::Nil,
        Instr::JumpIf { when: true, to },
        Instr::Nil,
        Instr::Nil,
        Instr::Done,
    ];
    assert!(matches!(broken(joins), Err(Broken::Depth(3 | 4))));
}

#[test]
fn sizes() {
    assert!(size_of::<Instr<Toy>>() <= 48, "{}", size_of::<Instr<Toy>>());
    assert!(size_of::<ptc_vm::Frame<usize>>() <= 136);
    assert!(size_of::<ptc_vm::Halt<String>>() <= 16);
}
