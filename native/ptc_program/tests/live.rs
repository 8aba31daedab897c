//! Liveness analysis of programs of PTC-JSON.

use ptc_kernels::Reading;
use ptc_program::code::{Demand, Instr, Loop, Program, PtcJson};
use ptc_program::opcode::OpCode;
use ptc_vm::live::{live_at, Around, LiveAfterCalls};
use ptc_vm::program::{Pc, NO_PC};

fn program(code: Vec<Instr>) -> Program {
    Program {
        branches: Vec::new(),
        live: LiveAfterCalls::of(&code),
        code,
        patterns: vec![],
        slots: 8,
        globals: 0,
        reads_input: false,
        now: None,
        multiplies: false,
        calls_tools: true,
        reading: Reading::default(),
        language: PtcJson { strict: false },
        sites: Vec::new(),
        detail: Default::default(),
    }
}

fn ends_at(end: Pc) -> Loop {
    Loop {
        op: OpCode::Map,
        list: 1,
        item: 2,
        end,
        tally: None,
        demand: Demand::All,
        residue: NO_PC,
    }
}

#[test]
fn a_list_is_dead_within_its_loop() {
    let call = Instr::Call {
        tool: 0,
        on_error: NO_PC,
    };
    let code = vec![
        Instr::LoadContext(2),
        Instr::Store(1),
        Instr::Enter(ends_at(5)),
        call,
        Instr::Next(2),
        Instr::Store(1),
        Instr::LoadMemory(3),
        Instr::Done,
    ];
    let program = program(code);
    let live = live_at(&program, 4).unwrap();
    assert!(!live.slot(1));
    assert!(!live.slot(0) && !live.slot(2));
    let around = Around {
        reads_items: false,
        calls_each_round: true,
    };
    assert_eq!(live.around, Some(around));
    assert_eq!((&live.context[..], &live.memory[..]), (&[][..], &[3][..]));
}

#[test]
fn what_the_body_reads_in_its_next_round_is_live() {
    let code = vec![
        Instr::Enter(ends_at(6)),
        Instr::Slot(5),
        Instr::Slot(2),
        Instr::LoadContext(7),
        Instr::Call {
            tool: 0,
            on_error: NO_PC,
        },
        Instr::Next(0),
        Instr::Done,
    ];
    let program = program(code);
    let live = live_at(&program, 5).unwrap();
    assert!(live.slot(5));
    assert!(!live.slot(2) && !live.slot(6));
    assert!(live.around.is_some_and(|around| around.reads_items));
    assert_eq!(live.context, vec![7]);
}

#[test]
fn nothing_is_said_about_long_programs() {
    let call = Instr::Call {
        tool: 0,
        on_error: NO_PC,
    };
    let known = program(vec![call, Instr::Done]);
    assert!(live_at(&known, 1).is_some());
    // It is computed once.
    assert!(std::ptr::eq(
        live_at(&known, 1).unwrap(),
        live_at(&known, 1).unwrap()
    ));
    // No call is before it.
    assert_eq!(live_at(&known, 0), None);
    assert_eq!(live_at(&program(vec![call; 1024 + 1]), 1), None);
    let wide = Program {
        slots: 64 + 1,
        ..program(vec![call, Instr::Done])
    };
    assert_eq!(live_at(&wide, 1), None);
}
