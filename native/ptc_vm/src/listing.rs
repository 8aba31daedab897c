//! The instructions of a program as text, for the golden files of the languages and for people.

use crate::language::Language;
use crate::program::{Instr, Program};
use std::fmt::Write;

/// Returns a line for each instruction, with its address, and one for each constant that the program has itself. `constants` has
/// their numbers and their texts.
pub fn listing<L: Language>(program: &Program<L>, constants: &[(u32, String)]) -> String {
    let mut text = String::new();
    for (pc, instr) in program.code.iter().enumerate() {
        // A `String` takes whatever is written.
        let _ = match instr {
            Instr::Own(own) => writeln!(text, "{pc:4}  {own:?}"),
            other => writeln!(text, "{pc:4}  {other:?}"),
        };
    }
    for (number, constant) in constants {
        let _ = writeln!(text, "   #{number}  {constant}");
    }
    text
}
