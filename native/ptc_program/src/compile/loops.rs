//! Plans with loops: the parts of an operation that are evaluated for each item, and what is made of their values.

use super::template::building;
use super::walk::Label;
use super::{Plan, Scope};
use crate::code::{Apply, ConstId, Demand, Instr, Loop, Slot, NO_CONST, NO_PC};
use crate::opcode::OpCode;
use ptc_json::Node;

/// A loop whose body is being planned.
pub struct Begun {
    start: Label,
    end: Label,
    /// The slot of the item.
    pub item: Slot,
    /// The scope of its body, with the item as the current value.
    pub scope: Scope,
}

impl Plan<'_, '_> {
    /// Same as `apply` with another current value.
    pub fn apply_to(
        &mut self,
        input: Slot,
        operands: u32,
        (key, value, mode): (ConstId, ConstId, u32),
    ) {
        self.emit(Instr::Apply(Apply {
            op: self.op,
            input,
            operands,
            key,
            value,
            mode,
            demand: Demand::All,
        }));
    }

    /// Begins a loop over the list in a slot. Its body comes next, up to [`Plan::end_loop`].
    pub fn begin_loop(&mut self, list: Slot) -> Begun {
        self.begin(list, None)
    }

    /// Begins a loop over the current value, which must exist. `tally` as in [`Loop`].
    pub fn begin_over_input(&mut self, tally: Option<(OpCode, ConstId)>) -> Begun {
        self.needs_input();
        self.begin(self.scope.input, tally)
    }

    /// Runs the body in a field once for each item of the current value.
    pub fn each_item(&mut self, body: &'static str) {
        let begun = self.begin_over_input(None);
        self.expr_in(body, begun.scope, true);
        self.note_value();
        self.end_loop(begun);
    }

    fn begin(&mut self, list: Slot, tally: Option<(OpCode, ConstId)>) -> Begun {
        let item = self.take_slot();
        let (start, end) = (self.label(), self.label());
        self.mark(start);
        self.emit(Instr::Enter(Loop {
            op: self.op,
            list,
            item,
            end: end.0,
            tally,
            demand: Demand::All,
            residue: NO_PC,
        }));
        Begun {
            start,
            end,
            item,
            scope: self.scope.with_input(item),
        }
    }

    /// Ends the body of a loop.
    pub fn end_loop(&mut self, begun: Begun) {
        self.emit(Instr::Next(begun.start.0));
        self.mark(begun.end);
    }

    /// Makes a list of this many values that stand on the stack.
    pub fn make_list(&mut self, operands: u32) {
        let apply = building(OpCode::IMPLICIT_LIST, operands as usize, NO_CONST, 0);
        self.emit(Instr::Apply(apply));
    }

    /// Makes a map of these names, with the operands as values; of equal names the first one counts.
    pub fn make_object(&mut self, names: &[Node]) {
        let long = names.iter().any(|name| self.is_long(*name));
        let first = self.constants(names.iter().copied());
        let apply = building(OpCode::IMPLICIT_OBJECT, names.len(), first, u32::from(long));
        self.emit(Instr::Apply(apply));
    }
}
