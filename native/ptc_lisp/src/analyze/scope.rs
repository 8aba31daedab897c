//! Which names are bound where: locals, and definitions that stand before.

use crate::ast::LocalId;
use crate::read::SymbolId;

/// The locals of the place that is analyzed.
#[derive(Debug, Default)]
pub struct Scope {
    /// For each name its local plus one, or 0.
    current: Vec<u32>,
    /// What the bindings have hidden, in their order.
    hidden: Vec<(SymbolId, u32)>,
}

impl Scope {
    /// Returns the local of a name.
    #[inline]
    pub fn local(&self, name: SymbolId) -> Option<LocalId> {
        self.current.get(name as usize)?.checked_sub(1)
    }

    /// Binds a name.
    pub fn bind(&mut self, name: SymbolId, local: LocalId) {
        let index = name as usize;
        if self.current.len() <= index {
            self.current.resize(index + 1, 0);
        }
        self.hidden.push((name, self.current[index]));
        self.current[index] = local + 1;
    }

    /// Forgets all bindings; their memory stays.
    pub fn clear(&mut self) {
        self.current.clear();
        self.hidden.clear();
    }

    /// Returns the words of memory that it has.
    pub fn room(&self) -> usize {
        self.current.capacity() / 2 + self.hidden.capacity()
    }

    /// Returns the number of bindings, for [`Scope::leave`].
    pub fn mark(&self) -> u32 {
        self.hidden.len() as u32
    }

    /// Ends the bindings since a mark.
    pub fn leave(&mut self, mark: u32) {
        while self.hidden.len() > mark as usize {
            let Some((name, local)) = self.hidden.pop() else {
                return;
            };
            self.current[name as usize] = local;
        }
    }
}

/// The definitions that count for the place that is analyzed: those in earlier expressions of the bodies around it, and those
/// around it.
#[derive(Debug, Default)]
pub struct Defs {
    /// How often each name is defined there.
    visible: Vec<u32>,
    /// The definitions of the bodies around the place, in their order.
    counted: Vec<SymbolId>,
    /// The definitions in values of bindings: they count after the form that binds.
    later: Vec<SymbolId>,
}

/// A point in the definitions.
#[derive(Debug, Clone, Copy)]
pub struct DefsMark {
    counted: u32,
    later: u32,
}

impl Defs {
    /// Returns whether a name is defined.
    #[inline]
    pub fn is_visible(&self, name: SymbolId) -> bool {
        self.visible
            .get(name as usize)
            .is_some_and(|count| *count > 0)
    }

    /// Begins a definition, which sees its own name.
    pub fn begin(&mut self, name: SymbolId) {
        let index = name as usize;
        if self.visible.len() <= index {
            self.visible.resize(index + 1, 0);
        }
        self.visible[index] += 1;
    }

    /// Ends a definition. It counts from here on, if it stands where it is evaluated for certain.
    pub fn end(&mut self, name: SymbolId, counts: bool) {
        match counts {
            true => self.counted.push(name),
            false => self.visible[name as usize] -= 1,
        }
    }

    /// Forgets all definitions; their memory stays.
    pub fn clear(&mut self) {
        self.visible.clear();
        self.counted.clear();
        self.later.clear();
    }

    /// Returns the words of memory that they have.
    pub fn room(&self) -> usize {
        (self.visible.capacity() + self.counted.capacity() + self.later.capacity()) / 2
    }

    /// Returns the point that is reached.
    pub fn mark(&self) -> DefsMark {
        DefsMark {
            counted: self.counted.len() as u32,
            later: self.later.len() as u32,
        }
    }

    /// Ends all definitions since a point.
    pub fn forget(&mut self, mark: DefsMark) {
        for name in self.counted.drain(mark.counted as usize..) {
            self.visible[name as usize] -= 1;
        }
        self.later.truncate(mark.later as usize);
    }

    /// Puts the definitions since a point aside, which stand in the value of a binding.
    #[inline]
    pub fn put_aside(&mut self, mark: DefsMark) {
        if self.counted.len() > mark.counted as usize {
            for name in self.counted.drain(mark.counted as usize..) {
                self.visible[name as usize] -= 1;
                self.later.push(name);
            }
        }
    }

    /// Lets the definitions count that were put aside since a point.
    pub fn take_back(&mut self, mark: DefsMark) {
        for name in self.later.drain(mark.later as usize..) {
            self.visible[name as usize] += 1;
            self.counted.push(name);
        }
    }
}
