//! What one execution remembers of the keys of a program: in which forms each is looked up, and where the last map had it.

use ptc_vm::program::ConstId;

/// The forms of a key, in the order in which they are looked up.
#[derive(Debug, Clone)]
pub struct Forms<T> {
    /// The forms.
    pub forms: Vec<T>,
    /// Where the keys of the last small map stand, and at which place the key is among them; `None` if it has none of the forms.
    pub last: Option<(usize, Option<usize>)>,
    /// The place among the keys of a small map at which the key was found last, and in which form.
    pub hit: Option<(usize, usize)>,
}

/// The remembered keys, by the constant that each is.
#[derive(Debug)]
pub struct Cache<T> {
    keys: Vec<Option<Forms<T>>>,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache { keys: Vec::new() }
    }
}

impl<T> Cache<T> {
    /// Returns what is known of a key.
    #[inline]
    pub fn get(&mut self, key: ConstId) -> Option<&mut Forms<T>> {
        self.keys.get_mut(key as usize)?.as_mut()
    }

    /// Returns where the last small map had a key.
    #[inline]
    pub fn last(&self, key: ConstId) -> Option<(usize, Option<usize>)> {
        self.keys.get(key as usize)?.as_ref()?.last
    }

    /// Remembers a key.
    pub fn put(&mut self, key: ConstId, forms: Forms<T>) {
        let place = key as usize;
        if self.keys.len() <= place {
            self.keys.resize_with(place + 1, || None);
        }
        self.keys[place] = Some(forms);
    }
}
