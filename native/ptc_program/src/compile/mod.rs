//! Compiler from source to program, in one walk: checks, lexical scopes, jumps.
//!
//! The walk keeps its own stack of steps, so nesting costs memory and not call depth. The plan of
//! an operation adds its steps, in the order in which the operation checks and evaluates. The walk
//! can be suspended between two steps.
//!
//! * `copy`: the table of a program that is given as a term
//! * `role`: what the compiler looks for in each term
//! * `walk`: the steps, and the state of a walk between two of them
//! * `compiler`: execution of each step
//! * `plan`: the interface for writing an operation's plan; `steps`: what it emits
//! * `parts`: cases and sort keys in plans
//! * `loops`: loops in plans
//! * `check`: checks of an operation's fields
//! * `check_2`: checks of the fields that edition 2 brought
//! * `template`: values with operations in them, at any depth
//! * `guard`: which of several mistakes is reported, and where
//! * `pattern`: the patterns of a program; `pattern_field`: they are compiled
//! * `unknown`: fields that an operation does not have
//! * `scope`: meaning of names and of the current value
//! * `explain`: marks around each operation, for a program that is observed; `observer`: its state
//! * `finish`: jumps, and analysis of the whole code
//! * `optimise`: optimisations of the finished code

mod check;
mod check_2;
mod compiler;
pub(crate) mod copy;
mod explain;
mod explain_parts;
mod finish;
mod given;
mod guard;
mod loops;
mod multiplies;
mod observer;
mod optimise;
mod parts;
mod pattern;
mod pattern_field;
mod plan;
mod role;
mod scope;
mod steps;
mod template;
mod unknown;
mod walk;

pub use compiler::ConsumeFuel;
pub(crate) use given::{Given, MOST_FIELDS};
pub(crate) use plan::names_input;
pub use plan::Plan;
pub use ptc_vm::explain::PathPart;
pub use scope::Scope;
pub use walk::{Label, Walk};

use crate::code::Program;
use crate::edition::Edition;
use crate::fault::Fault;
use ptc_json::{Document, Node, Table};
use ptc_term::stop::Stop;

/// The name under which a program refers to its current value.
pub const INPUT_NAME: &str = <crate::code::PtcJson as ptc_vm::Language>::INPUT;

/// The error that the check found in a part of the source.
pub type Rejection = Fault<Node>;

/// Options of the compiler.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether an error in a given part is reported; otherwise it becomes an instruction that
    /// fails when it is reached.
    pub checked: bool,
    /// Maximum nesting depth of operations.
    pub depth: u32,
    /// The edition of the language.
    pub edition: Edition,
    /// Refuse fields that an operation does not have, and names that the context does not have.
    pub strict: bool,
    /// Look up atoms in maps that do not have a string of the same name.
    pub any_keys: bool,
    /// Read structs as maps of their fields, and dates, times and decimals as values.
    pub values: bool,
}

/// Why compilation failed.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The check found a mistake.
    Rejected(Rejection),
    /// A limit. After [`Stop::SliceOver`] the walk can be resumed.
    Stopped(Stop),
}

/// A program and its constants.
pub struct Compiled {
    /// The instructions.
    pub program: Program,
    /// The constants that the [`ConstId`]s refer to.
    pub consts: Vec<Node>,
}

/// Compiles the program of a text whose root is `root`, without limits of time and memory.
pub fn compile(
    text: &[u8],
    table: &mut Table,
    root: Node,
    options: Options,
) -> Result<Compiled, Failure> {
    let mut walk = Walk::new(table, root, options);
    let source = Document::new(text, table);
    walk.resume(&source, &mut |_, _| Ok(()))?;
    Ok(walk.finish(&source))
}
