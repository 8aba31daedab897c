//! What the entries of the program's value are made of: a run keeps them in its memory.

use super::sets::{Extent, Ref, SetId, MOST_REFS};
use super::value::{Value, ValueId};
use super::walk::PlanWalk;
use crate::analysis::names::NameId;
use ptc_term::names::is_firewalled;

/// Maximum number of parts of an entry that are told apart. What an entry with more of them comes from counts as computed.
const MOST_PARTS: usize = 256;

/// What an entry is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// Its name; `None` for all entries whose names are not known.
    pub name: Option<NameId>,
    /// What it, or a part of it, is computed from, and what its numbers of items and its keys come from.
    pub made: SetId,
    /// The parts of the data that stand in it as they are, also those that are inside others: where a part stands, its firewalled name
    /// may not stand with it. What it has under firewalled names is in neither set.
    pub parts: SetId,
}

impl PlanWalk {
    /// Returns what the entries of a value are made of, if it is an object.
    pub(super) fn kept(&mut self, result: ValueId) -> Vec<Kept> {
        let (inner, _) = self.values.undecided(result);
        // A list has no entries.
        let mut objects = self.values.members(inner);
        objects.retain(|it| !matches!(self.values.get(*it), Value::List(_)));
        let inner = match objects[..] {
            [only] => only,
            _ => inner,
        };
        let (inner, _) = self.values.undecided(inner);
        let Value::Object(span, rest) = self.values.get(inner) else {
            return vec![self.kept_of(None, inner)];
        };
        let fields = self.values.fields(span).to_vec();
        let mut all: Vec<Kept> = (fields.into_iter())
            .map(|(name, value)| self.kept_of(Some(name), value))
            .collect();
        if rest != ValueId::CONSTANT {
            all.push(self.kept_of(None, rest));
        }
        all
    }

    fn kept_of(&mut self, name: Option<NameId>, value: ValueId) -> Kept {
        let (mut made, mut parts) = (SetId::EMPTY, Vec::new());
        let (mut todo, mut left) = (vec![value], MOST_PARTS);
        while let Some(next) = todo.pop() {
            if left == 0 {
                made = self.values.both(made, self.values.data(value));
                break;
            }
            left -= 1;
            let own = match self.values.get(next) {
                Value::Made(data) => data,
                Value::At(source, _) => {
                    let extent = Extent::Whole;
                    parts.push(Ref { source, extent });
                    continue;
                }
                Value::Object(span, rest) => {
                    let fields = self.values.fields(span).iter();
                    let names = &self.names;
                    todo.extend(
                        { fields }
                            .filter(|field| !is_firewalled(names.get(field.0)))
                            .map(|field| field.1),
                    );
                    todo.push(rest);
                    continue;
                }
                Value::List(items) => {
                    todo.push(items.item);
                    self.values.sets.items(items.spine)
                }
                Value::Named(item, keys) => {
                    todo.push(item);
                    keys
                }
                Value::OneOf(_) => {
                    todo.extend(self.values.members(next));
                    continue;
                }
                Value::Decided(inner, _) => {
                    todo.push(inner);
                    continue;
                }
            };
            made = self.values.both(made, own);
        }
        parts.sort_unstable();
        parts.dedup();
        // A larger set has only the roots of its parts.
        if parts.len() > MOST_REFS {
            made = self.values.both(made, self.values.data(value));
        }
        let parts = self.values.sets.of_parts(parts, &mut self.values.tree);
        Kept { name, made, parts }
    }
}
