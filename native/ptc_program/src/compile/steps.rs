//! The interface for writing an operation's plan: its steps.

use super::scope::BoundName;
use super::template::is_node;
use super::walk::{Label, Step};
use super::{Plan, Scope};
use crate::code::{Apply, ConstId, Demand, Instr, Own, Slot, INPUT, NO_CONST};
use crate::edition::Edition;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use ptc_json::Node;

impl Plan<'_, '_> {
    /// Adds a step of the walk.
    pub(super) fn later(&mut self, step: Step) {
        self.compiler.walk.todo.push(step);
    }

    /// Emits an instruction: at once, if no other step of this plan precedes it.
    pub fn emit(&mut self, instr: Instr) {
        match self.compiler.walk.todo.len() == self.first {
            true => {
                self.compiler.uncounted += 1;
                self.compiler.walk.code.push(instr);
            }
            false => self.later(Step::Emit(instr)),
        }
    }

    /// Emits the call of a tool, and notes that it is the one of this operation.
    pub fn emit_call(&mut self, call: Instr) {
        let node = self.node;
        match self.compiler.walk.todo.len() == self.first {
            true => {
                self.compiler.uncounted += 1;
                self.compiler.walk.push_call(node, call);
            }
            false => self.later(Step::Call { node, call }),
        }
    }

    /// Emits a failure.
    pub fn fail(&mut self, code: Code, field: &'static str, subject: Node) {
        let fault = Fault::new(code, Some(self.op.name()), vec![subject]);
        let instr = self.compiler.fail(fault.about(field));
        self.emit(instr);
    }

    /// Emits a failure if there is no current value.
    pub fn needs_input(&mut self) {
        if self.scope.input == INPUT {
            self.compiler.walk.reads_input = true;
            self.emit(Instr::Own(Own::NeedInput(self.op)));
        }
    }

    /// Lets the operation check its operands so far before it continues.
    pub fn expect(&mut self) {
        self.emit(Instr::Expect {
            op: self.op,
            input: self.scope.input,
        });
    }

    /// Evaluates a field, which must hold an operation.
    pub fn expr(&mut self, name: &'static str) {
        self.expr_in(name, self.scope, false);
    }

    /// Same as `expr`, but the field may also hold a bare number.
    pub fn operand(&mut self, name: &'static str) {
        self.field_step(name, self.scope, true, false);
    }

    /// Same as `expr` in another scope; `given` if this operation sets the current value there.
    pub fn expr_in(&mut self, name: &'static str, scope: Scope, given: bool) {
        self.field_step(name, scope, false, given);
    }

    fn field_step(&mut self, name: &'static str, scope: Scope, number: bool, given: bool) {
        let scope = self.scope_of(name, scope);
        match self.field(name) {
            Some(node) if !number => return self.visit(node, scope, given),
            _ => {}
        }
        self.later(Step::Field {
            owner: self.node,
            op: self.op,
            name,
            number,
            given,
            scope,
        });
    }

    /// Evaluates a part, which must be an operation.
    pub fn visit(&mut self, node: Node, scope: Scope, given: bool) {
        self.later(Step::Visit { node, scope, given });
    }

    /// Evaluates a part if it names an operation; otherwise takes it literally.
    pub fn value(&mut self, node: Node, scope: Scope) {
        match self.is_operation(node) {
            true => self.visit(node, scope, false),
            false => {
                let id = self.constant(node);
                self.emit(Instr::Const(id));
            }
        }
    }

    /// Returns the operation that a part names.
    pub fn operation(&self, node: Node) -> Option<OpCode> {
        let source = self.source();
        let name = source.field(node, "op")?;
        self.compiler.operation(name)
    }

    /// Returns whether a part is a map with the key `op`; in edition 2, whose value is a string.
    pub fn is_operation(&self, node: Node) -> bool {
        match self.edition() {
            Edition::One => self.source().is_map(node) && self.source().field(node, "op").is_some(),
            Edition::Two => is_node(self.source(), node),
        }
    }

    /// Applies this operation to this many operands from the stack; `key`, `value` and `mode` as in
    /// [`Apply`].
    pub fn apply(&mut self, operands: u32, (key, value, mode): (ConstId, ConstId, u32)) {
        self.emit(Instr::Apply(Apply {
            op: self.op,
            input: self.scope.input,
            operands,
            key,
            value,
            mode,
            demand: Demand::All,
        }));
    }

    /// Same as `apply` for a comparison: if what was evaluated last is a constant, it becomes a part of the instruction.
    pub fn compare(&mut self, operands: u32, (key, value, mode): (ConstId, ConstId, u32)) {
        self.later(Step::Compare(Apply {
            op: self.op,
            input: self.scope.input,
            operands,
            key,
            value,
            mode,
            demand: Demand::All,
        }));
    }

    /// Applies this operation to the current value and one constant.
    pub fn apply_to_input(&mut self, key: ConstId) {
        self.needs_input();
        self.apply(0, (key, NO_CONST, 0));
    }

    /// Creates a jump target, which is marked later.
    pub fn label(&mut self) -> Label {
        self.compiler.walk.labels.push(0);
        Label(self.compiler.walk.labels.len() as u32 - 1)
    }

    /// Marks the target of a label.
    pub fn mark(&mut self, label: Label) {
        self.later(Step::Mark(label));
    }

    /// Jumps to the label.
    pub fn jump(&mut self, label: Label) {
        self.emit(Instr::Jump(label.0));
    }

    /// Pops a value; jumps to the label if its truth is `when`.
    pub fn jump_if(&mut self, when: bool, label: Label) {
        self.emit(Instr::JumpIf { when, to: label.0 });
    }

    /// Binds a name, for example the one that a part holds, to the slot, until [`Plan::unbind`].
    pub fn bind(&mut self, name: impl Into<BoundName>, slot: Slot) {
        self.later(Step::Bind(name.into(), slot));
    }

    /// Ends the binding.
    pub fn unbind(&mut self, name: impl Into<BoundName>) {
        self.later(Step::Unbind(name.into()));
    }
}
