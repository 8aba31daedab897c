//! What pushes a value that is known, or that has a name: constants, locals, names and built-ins.

use super::places::text;
use super::{Compiler, LocalPlace};
use crate::ast::{Expr, ExprId, Literal, LocalId, NameId};
use crate::code::{Instr, Other, Own};
use crate::consts::{Const, Word};
use crate::table::Builtin;
use ptc_vm::program::{ConstId, NO_CONST};

impl Compiler<'_> {
    /// Pushes the value of a local.
    pub(super) fn local(&mut self, local: LocalId) {
        self.code.push(match self.places.get(local) {
            Some(LocalPlace::Slot(slot)) => Instr::Slot(slot),
            Some(LocalPlace::Growing(base, added)) => Other::Whole { base, added }.instr(),
            Some(LocalPlace::Captured(index)) => Other::Captured {
                slot: self.current.own,
                index,
            }
            .instr(),
            None => Instr::Nil,
        });
    }

    pub(super) fn constant(&mut self, literal: &Literal) {
        let instr = match literal {
            Literal::Nil => Instr::Nil,
            Literal::Bool(value) => Instr::Bool(*value),
            literal => Instr::Const(self.constants.literal(literal)),
        };
        self.code.push(instr);
    }

    pub(super) fn vector(&mut self, items: &[ExprId]) {
        let source = self.source;
        let constant = |item: &ExprId| match &source.exprs[*item as usize] {
            Expr::Const(literal) => Some(Const::Literal(literal.clone())),
            _ => None,
        };
        match items.iter().map(constant).collect::<Option<Vec<_>>>() {
            Some(items) => {
                let id = self.constants.add(Const::List(items));
                self.code.push(Instr::Const(id));
            }
            None => self.all(items, Other::Vector(items.len() as u32).instr()),
        }
    }

    /// A name of the user namespace, or of a built-in.
    pub(super) fn name(&mut self, name: NameId, or_nil: bool) {
        let builtin = self.meanings[name as usize].builtin;
        if let Some(builtin) = builtin {
            if !self.is_user(name) {
                return self.builtin_value(builtin);
            }
        }
        let fallback = match builtin {
            Some(builtin) => self.builtin_constant(builtin),
            None if or_nil => self.constants.literal(&Literal::Nil),
            None => NO_CONST,
        };
        let global = self.global(name);
        let name = self.constants.text(text(self.source, name));
        self.code.push(Instr::Own(Own::Global {
            global,
            name,
            fallback,
        }));
    }

    /// Whether a name of a built-in may be one of the user namespace.
    pub(super) fn is_user(&mut self, name: NameId) -> bool {
        let meaning = &mut self.meanings[name as usize];
        if !meaning.is_user && !meaning.is_listed {
            meaning.is_listed = true;
            self.builtins.push(text(self.source, name));
        }
        meaning.is_user
    }

    pub(super) fn builtin_constant(&mut self, builtin: Builtin) -> ConstId {
        self.has_effects |= builtin == Builtin::Println;
        let number = Const::number(builtin as i64);
        self.constants
            .add(Const::Marked(Word::Builtin, vec![number]))
    }

    pub(super) fn builtin_value(&mut self, builtin: Builtin) {
        let id = self.builtin_constant(builtin);
        self.code.push(Instr::Const(id));
    }
}
