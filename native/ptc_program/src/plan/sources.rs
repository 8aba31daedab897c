//! Where data come from: the parts of the context, of the memory and of the answers of tools, each a path from its root.

use crate::analysis::names::{ByNumber, NameId};
use std::collections::HashMap;

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceRoot {
    /// A value of the context.
    Context(NameId),
    /// A value of the memory.
    Memory(NameId),
    /// The answers of a tool.
    Answer(NameId),
    /// The texts of the errors of a tool.
    Error(NameId),
    /// The time of the run.
    Now,
    /// What a `fold` with this number has accumulated.
    Folded(u32),
    /// The numbers that `range` makes: no part of the data. What is chosen among them tells a number exactly.
    Numbers,
    /// Nothing is known of it: it may be any part of the data.
    Unknown,
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// The value at a key.
    Key(NameId),
    /// The items of a list.
    Each,
    /// The values of an object.
    Value,
    /// The keys of an object, without their values.
    Keys,
    /// The value itself, if it is an object.
    Object,
    /// The value itself, if it is no object.
    Other,
    /// The value itself, if it is no list.
    Single,
    /// The object without some of its fields, see [`SourceTree::names_without`].
    Without(u32),
}

/// The number of a part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SourceOrigin {
    SourceRoot(SourceRoot),
    Inside(SourceId, PathStep),
}

#[derive(Debug, Clone, Copy)]
struct SourcePart {
    origin: SourceOrigin,
    depth: u8,
    root: SourceId,
}

/// The parts of the data that a program names.
#[derive(Debug, Default)]
pub struct SourceTree {
    all: Vec<SourcePart>,
    index: HashMap<SourceOrigin, SourceId, ByNumber>,
    /// The names of the fields that objects are without, each list in ascending order and once.
    without: Vec<Vec<NameId>>,
    known: HashMap<Vec<NameId>, u32>,
    /// The number of all these names.
    names: usize,
}

/// Maximum number of steps of a path. What is deeper counts as a part of what is at that depth.
const DEEPEST: u8 = 32;
/// Maximum number of the fields that an object is without.
const MOST_WITHOUT: usize = 256;

impl SourceTree {
    /// Forgets all parts, and keeps the memory. Returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        self.all.clear();
        self.index.clear();
        (self.without, self.known) = (Vec::new(), HashMap::new());
        self.names = 0;
        3 * self.all.capacity() + 3 * self.index.capacity()
    }

    /// Returns a root.
    pub fn root(&mut self, root: SourceRoot) -> SourceId {
        self.add(SourceOrigin::SourceRoot(root), 0)
    }

    /// Returns the part at a step; `None` if the path would be too long.
    pub fn inside(&mut self, of: SourceId, step: PathStep) -> Option<SourceId> {
        let depth = self.all[of.0 as usize].depth;
        match depth < DEEPEST {
            true => Some(self.add(SourceOrigin::Inside(of, step), depth + 1)),
            false => None,
        }
    }

    fn add(&mut self, origin: SourceOrigin, depth: u8) -> SourceId {
        if let Some(id) = self.index.get(&origin) {
            return *id;
        }
        let id = SourceId(self.all.len() as u32);
        let root = match origin {
            SourceOrigin::SourceRoot(_) => id,
            SourceOrigin::Inside(of, _) => self.all[of.0 as usize].root,
        };
        self.all.push(SourcePart {
            origin,
            depth,
            root,
        });
        self.index.insert(origin, id);
        id
    }

    /// Returns the root of a part.
    pub fn root_of(&self, id: SourceId) -> SourceRoot {
        let root = self.all[id.0 as usize].root;
        match self.all[root.0 as usize].origin {
            SourceOrigin::SourceRoot(root) => root,
            SourceOrigin::Inside(..) => SourceRoot::Unknown,
        }
    }

    /// Returns the number of the root of a part.
    pub fn root_id(&self, id: SourceId) -> SourceId {
        self.all[id.0 as usize].root
    }

    /// Returns the part around a part, and the step between them.
    pub fn around(&self, id: SourceId) -> Option<(SourceId, PathStep)> {
        match self.all[id.0 as usize].origin {
            SourceOrigin::SourceRoot(_) => None,
            SourceOrigin::Inside(of, step) => Some((of, step)),
        }
    }

    /// Returns the object without these fields, with the part around it. Of many fields, some count as if they were still there.
    pub fn without(&mut self, id: SourceId, names: &[NameId]) -> (SourceId, PathStep) {
        let (around, mut all) = match self.around(id) {
            Some((around, PathStep::Without(before))) => {
                (around, self.names_without(before).to_vec())
            }
            _ => (id, Vec::new()),
        };
        all.extend(names);
        all.sort_unstable();
        all.dedup();
        all.truncate(MOST_WITHOUT);
        let at = match self.known.get(&all) {
            Some(at) => *at,
            None => {
                let at = self.without.len() as u32;
                self.names += all.len();
                self.without.push(all.clone());
                self.known.insert(all, at);
                at
            }
        };
        (around, PathStep::Without(at))
    }

    /// Returns the names of the fields that an object is without.
    pub fn names_without(&self, at: u32) -> &[NameId] {
        &self.without[at as usize]
    }

    /// Returns whether a part is an object, if it is anything.
    pub fn is_object(&self, id: SourceId) -> bool {
        let step = self.around(id).map(|(_, step)| step);
        matches!(step, Some(PathStep::Object | PathStep::Without(_)))
    }

    /// Returns whether a part can have something at a step.
    pub fn has(&self, id: SourceId, step: PathStep) -> bool {
        use PathStep::*;
        match self.around(id).map(|(_, last)| last) {
            Some(Object | Without(_)) => !matches!(step, Each | Other),
            Some(Other) => matches!(step, Each | Other | Single),
            Some(Single) => step != Each,
            _ => true,
        }
    }

    /// Returns the number of parts.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        8 * self.all.len() + self.names
    }
}
