//! How often tools are called.

use super::formula::FormulaId;
use super::loops::{Looped, Loops};
use super::sets::SetId;
use super::value::{ValueId, Values};
use crate::analysis::names::NameId;

/// How often a part of the program calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// The tool.
    pub tool: NameId,
    /// The least number of calls.
    pub least: FormulaId,
    /// The largest number.
    pub most: FormulaId,
}

/// How often a part of the program calls each tool, in the order of their names' numbers.
pub type Effects = Vec<Called>;

/// A call of the program.
#[derive(Debug, Clone, Copy)]
pub struct CallSite {
    /// The tool.
    pub tool: NameId,
    /// Its arguments.
    pub args: ValueId,
    /// What decides whether and how often it is made.
    pub guard: SetId,
    /// What the numbers of rounds of the loops around it come from.
    pub counted: SetId,
    /// The least number of times that it is made.
    pub least: FormulaId,
    /// The largest number: of a call behind the first [`MOST_COUNTED`] that of all calls of its tool.
    pub most: FormulaId,
}

/// Maximum number of calls that are counted one by one.
pub const MOST_COUNTED: usize = 256;

/// Returns the calls of two parts that are both evaluated.
pub fn and_then(a: Effects, b: Effects, values: &mut Values) -> Effects {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b } else { a };
    }
    let (mut all, few) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for called in few {
        match all.binary_search_by_key(&called.tool, |it| it.tool) {
            Ok(at) => {
                all[at].least = values.formulas.sum(all[at].least, called.least);
                all[at].most = values.formulas.sum(all[at].most, called.most);
                if all[at].least == FormulaId::UNKNOWN {
                    all[at].least = FormulaId::ZERO;
                }
            }
            Err(at) => all.insert(at, called),
        }
    }
    all
}

/// Returns the calls of one of two parts.
pub fn or_else(a: Effects, b: Effects, values: &mut Values) -> Effects {
    let (mut all, mut few) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut rest = few.drain(..).peekable();
    let mut more = Vec::new();
    for called in &mut all {
        while let Some(other) = rest.next_if(|other| other.tool < called.tool) {
            more.push(other);
        }
        match rest.next_if(|other| other.tool == called.tool) {
            Some(other) => {
                called.least = values.formulas.smaller(called.least, other.least);
                called.most = values.formulas.larger(called.most, other.most);
            }
            None => called.least = FormulaId::ZERO,
        }
    }
    more.extend(rest);
    maybe(&mut more);
    all.extend(more);
    all.sort_by_key(|called| called.tool);
    all
}

/// The calls of a part that may not be evaluated.
pub fn maybe(effects: &mut Effects) {
    for called in effects {
        called.least = FormulaId::ZERO;
    }
}

/// The calls of a part of the program that is evaluated in each round of a loop, or perhaps not at all (`maybe`), one by one.
pub fn each_times(
    calls: &mut [CallSite],
    looped: Option<&Looped>,
    maybe: bool,
    loops: &mut Loops,
    values: &mut Values,
) {
    for call in calls {
        if let Some(looped) = looped {
            call.least = loops.times(call.least, looped, false, values);
            call.most = loops.times(call.most, looped, true, values);
        }
        if maybe {
            call.least = FormulaId::ZERO;
        }
    }
}

/// The calls of all rounds of a loop.
pub fn times(effects: &mut Effects, looped: &Looped, loops: &mut Loops, values: &mut Values) {
    for called in effects {
        called.least = loops.times(called.least, looped, false, values);
        called.most = loops.times(called.most, looped, true, values);
    }
}
