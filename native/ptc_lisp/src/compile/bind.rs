//! Binding: the values of locals in slots, and destructuring.

use super::free::bound;
use super::{Compiler, LocalPlace};
use crate::ast::{Entry, LocalId, Pattern};
use crate::code::{Instr, Other, Own};
use ptc_vm::program::Slot;

impl<'a> Compiler<'a> {
    /// Binds the value on the stack.
    pub(super) fn bind(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::Local(local) => {
                let slot = self.slot_of(*local);
                self.code.push(Instr::Store(slot));
            }
            pattern => {
                // Its locals stay; the slot of the value itself is free afterwards.
                bound(pattern, &mut |local| {
                    self.slot_of(local);
                });
                let before = self.current.next_slot;
                let slot = self.slot();
                self.code.push(Instr::Store(slot));
                self.take_apart(pattern, slot);
                self.current.next_slot = before;
            }
        }
    }

    /// Returns the slot of a local of this function, and takes one if it has none.
    pub(super) fn slot_of(&mut self, local: LocalId) -> Slot {
        if let Some(LocalPlace::Slot(slot)) = self.places.get(local) {
            return slot;
        }
        let slot = self.slot();
        self.places.insert(local, LocalPlace::Slot(slot));
        slot
    }

    /// Binds the parts of the value in a slot, which has another content afterwards. Patterns are as deep as the reader
    /// allows.
    pub(super) fn take_apart(&mut self, pattern: &'a Pattern, slot: Slot) {
        match pattern {
            Pattern::Local(local) => {
                let own = self.slot_of(*local);
                if own != slot {
                    self.code.extend([Instr::Slot(slot), Instr::Store(own)]);
                }
            }
            Pattern::List(parts, rest) => {
                self.code.push(Other::ExpectList(slot).instr());
                for part in parts {
                    self.code.push(Other::TakeItem(slot).instr());
                    self.bind(part);
                }
                if let Some(rest) = rest {
                    self.code.push(Other::TakeRest(slot).instr());
                    self.bind(rest);
                }
            }
            Pattern::Map { entries, whole } => {
                self.code.push(Other::ExpectMap(slot).instr());
                if let Some(local) = whole {
                    let own = self.slot_of(*local);
                    self.code.extend([Instr::Slot(slot), Instr::Store(own)]);
                }
                for Entry {
                    pattern,
                    key,
                    default,
                } in entries
                {
                    let key = self.constants.key(key);
                    let default = default.as_ref().unwrap_or(&crate::ast::Literal::Nil);
                    let default = self.constants.literal(default);
                    self.code
                        .push(Instr::Own(Own::Field { slot, key, default }));
                    self.bind(pattern);
                }
            }
        }
    }
}
