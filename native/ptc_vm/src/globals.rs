//! The names that a run binds for all its activations.

use ptc_term::suspend::{Exchange, Rooted};

/// The values of the names of a program, by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Globals<T> {
    values: Vec<Option<T>>,
    /// Whether the run itself has bound the name.
    defined: Vec<bool>,
}

impl<T> Rooted for Globals<T> {
    type Term = T;
    type With<U> = Globals<U>;

    #[inline]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Globals<X::Into>, X::Lost> {
        let mut values = Vec::with_capacity(self.values.len());
        for value in self.values {
            values.push(by.optional(value)?);
        }
        Ok(Globals {
            values,
            defined: self.defined,
        })
    }
}

impl<T: Copy> Globals<T> {
    /// Returns so many names without values.
    pub fn new(count: u32) -> Self {
        Globals {
            values: vec![None; count as usize],
            defined: vec![false; count as usize],
        }
    }

    /// Returns whether the program has no names.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of a name, if it is bound.
    #[inline]
    pub fn get(&self, name: u32) -> Option<T> {
        self.values.get(name as usize).copied().flatten()
    }

    /// Gives a name the value that it has before the run.
    pub fn give(&mut self, name: u32, value: Option<T>) {
        self.values[name as usize] = value;
    }

    /// Binds a name.
    #[inline]
    pub fn define(&mut self, name: u32, value: T) {
        self.values[name as usize] = Some(value);
        self.defined[name as usize] = true;
    }

    /// Returns the names that the run has bound, with their values.
    pub fn defined(&self) -> impl Iterator<Item = (u32, T)> + '_ {
        let all = self.values.iter().zip(&self.defined).enumerate();
        all.filter_map(|(name, (value, defined))| {
            value.filter(|_| *defined).map(|value| (name as u32, value))
        })
    }
}
