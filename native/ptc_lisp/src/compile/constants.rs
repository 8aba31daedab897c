//! The constants of a program: each stands once.

use crate::ast::Literal;
use crate::consts::{Const, FIRST_OWN};
use crate::read::{hash, seed};
use ptc_term::value::mix;
use ptc_vm::program::ConstId;

/// The constants so far.
pub(super) struct Constants {
    pub all: Vec<Const>,
    known: ConstIndex,
    keys: ConstIndex,
    seed: u64,
}

impl Default for Constants {
    fn default() -> Self {
        Constants {
            all: Vec::with_capacity(16),
            known: ConstIndex::default(),
            keys: ConstIndex::default(),
            seed: seed(),
        }
    }
}

impl Constants {
    /// Adds a constant.
    pub fn add(&mut self, constant: Const) -> ConstId {
        self.all.push(constant);
        FIRST_OWN + self.all.len() as ConstId - 1
    }

    /// Returns the constant of a literal.
    pub fn literal(&mut self, literal: &Literal) -> ConstId {
        let hash = self.hash(literal);
        if let Some(id) = self.known.find(hash, |id| is(&self.all, id, literal)) {
            return id;
        }
        let id = self.add(Const::Literal(literal.clone()));
        self.known.insert(hash, id);
        id
    }

    /// Returns the constants of a key that is looked up flexibly, see [`crate::look`].
    pub fn key(&mut self, literal: &Literal) -> ConstId {
        let hash = self.hash(literal);
        if let Some(id) = self.keys.find(hash, |id| is(&self.all, id, literal)) {
            return id;
        }
        let id = self.add(Const::Literal(literal.clone()));
        let other = match literal {
            Literal::Keyword(name) | Literal::Str(name) => {
                self.add(Const::TextOf(id));
                self.add(Const::KeywordOf(id));
                name.contains('-').then(|| name.replace('-', "_"))
            }
            other => {
                let name = format!("{other:?}");
                self.add(Const::text(name.clone()));
                self.add(Const::KeywordStruct(name));
                None
            }
        };
        self.add(match other {
            Some(other) => Const::text(other),
            None => Const::Literal(Literal::Nil),
        });
        self.keys.insert(hash, id);
        id
    }

    /// Returns the constant of a text.
    pub fn text(&mut self, text: &str) -> ConstId {
        let hash = hash(self.seed, text.as_bytes());
        let is_text = |id: ConstId| match &self.all[(id - FIRST_OWN) as usize] {
            Const::Literal(Literal::Str(other)) => other == text,
            _ => false,
        };
        if let Some(id) = self.known.find(hash, is_text) {
            return id;
        }
        let id = self.add(Const::text(text));
        self.known.insert(hash, id);
        id
    }

    fn hash(&self, literal: &Literal) -> u64 {
        let text = |text: &str, kind| mix(hash(self.seed, text.as_bytes()), kind);
        match literal {
            Literal::Str(value) => hash(self.seed, value.as_bytes()),
            Literal::Keyword(name) => text(name, 1),
            Literal::Regex(source) => text(source, 2),
            Literal::Symbol(name) => text(name, 3),
            Literal::Int(value) => mix(self.seed, *value as u64),
            Literal::Large(value) => value.iter_u64_digits().fold(self.seed, mix),
            Literal::Float(value) => mix(self.seed ^ 1, value.to_bits()),
            Literal::Bool(value) => mix(self.seed ^ 2, u64::from(*value)),
            Literal::Nil => mix(self.seed ^ 3, 0),
            Literal::Infinity => mix(self.seed ^ 3, 1),
            Literal::NegativeInfinity => mix(self.seed ^ 3, 2),
            Literal::NaN => mix(self.seed ^ 3, 3),
        }
    }
}

/// Returns whether a constant is this literal. Zeros of both signs differ.
fn is(all: &[Const], id: ConstId, literal: &Literal) -> bool {
    match (&all[(id - FIRST_OWN) as usize], literal) {
        (Const::Literal(Literal::Float(a)), Literal::Float(b)) => a.to_bits() == b.to_bits(),
        (Const::Literal(other), literal) => other == literal,
        _ => false,
    }
}

/// Constants by hashes.
#[derive(Default)]
struct ConstIndex {
    /// A hash and a constant at each place; 0 is free. Their number is a power of two, and they are at most half full.
    places: Vec<(u64, ConstId)>,
    count: usize,
}

impl ConstIndex {
    /// Returns the constant with this hash that is the right one.
    fn find(&self, hash: u64, is: impl Fn(ConstId) -> bool) -> Option<ConstId> {
        let mask = self.places.len().checked_sub(1)?;
        let mut place = hash as usize & mask;
        loop {
            match self.places[place] {
                (_, 0) => return None,
                (other, id) if other == hash && is(id) => return Some(id),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Adds a constant that it does not have.
    fn insert(&mut self, hash: u64, id: ConstId) {
        if 2 * self.count >= self.places.len() {
            let size = (4 * self.places.len()).max(16);
            let before = std::mem::replace(&mut self.places, vec![(0, 0); size]);
            for (hash, id) in before.into_iter().filter(|(_, id)| *id != 0) {
                self.put(hash, id);
            }
        }
        self.put(hash, id);
        self.count += 1;
    }

    fn put(&mut self, hash: u64, id: ConstId) {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place].1 != 0 {
            place = (place + 1) & mask;
        }
        self.places[place] = (hash, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_literals_are_one_constant() {
        let texts = (0..500).map(|it| Literal::Str(format!("t{it}")));
        let keywords = (0..500).map(|it| Literal::Keyword(format!("t{it}")));
        let numbers = (0..500).map(Literal::Int);
        let floats = [0.0, -0.0, 1.0].map(Literal::Float);
        let others = [
            Literal::Nil,
            Literal::Bool(true),
            Literal::NaN,
            Literal::Infinity,
        ];
        let all: Vec<_> = (texts.chain(keywords).chain(numbers).chain(floats))
            .chain(others)
            .collect();
        let mut constants = Constants::default();
        let ids: Vec<_> = all.iter().map(|it| constants.literal(it)).collect();
        assert_eq!(constants.all.len(), all.len());
        let again: Vec<_> = all.iter().map(|it| constants.literal(it)).collect();
        assert_eq!(again, ids);
        assert_eq!(constants.text("t7"), ids[7]);
        let key = constants.key(&Literal::Keyword("a-b".into()));
        assert_eq!(constants.key(&Literal::Keyword("a-b".into())), key);
        assert_ne!(constants.key(&Literal::Str("a-b".into())), key);
    }
}
