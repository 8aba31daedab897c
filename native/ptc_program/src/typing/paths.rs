//! The places of findings: from the program's root to a part.

use ptc_json::{Document, Entry, Node};

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStep {
    /// The value at this key.
    Key(Node),
    /// The element at this index.
    Index(u32),
}

/// An object or a list around the place that is looked at.
#[derive(Debug)]
struct OpenPath {
    end: Node,
    /// The steps before the one of this container's part.
    depth: usize,
    is_object: bool,
    next: u32,
}

/// Finds the paths of parts, which are asked for in ascending order, in one pass over the program.
#[derive(Debug)]
pub struct Paths {
    root: Node,
    at: Node,
    path: Vec<PartStep>,
    open: Vec<OpenPath>,
}

impl Paths {
    /// Begins at the root of a program.
    pub fn new(root: Node) -> Self {
        Paths {
            root,
            at: root,
            path: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Goes on towards a part, by at most so many steps. Returns whether it is reached.
    pub fn go_to(&mut self, source: &Document, node: Node, steps: usize) -> bool {
        if self.is_outside(source, node) {
            return true;
        }
        for _ in 0..steps {
            let is_begun = self.at != self.root || !self.open.is_empty();
            if self.at == node || (self.at > node && is_begun) {
                return true;
            }
            self.step(source, node);
        }
        false
    }

    /// Returns the path of the part that was reached.
    pub fn path(&self, source: &Document, node: Node) -> &[PartStep] {
        match self.is_outside(source, node) {
            true => &[],
            false => &self.path,
        }
    }

    fn is_outside(&self, source: &Document, node: Node) -> bool {
        node < self.root || node >= source.end(self.root)
    }

    /// Goes into a part that is around the place, or passes over it.
    fn step(&mut self, source: &Document, node: Node) {
        let around = source.end(self.at) > node;
        let (end, is_object) = match source.entry(self.at) {
            Entry::Object(end, _) if around => (end, true),
            Entry::List(end, _) if around => (end, false),
            _ => return self.pass(source, node),
        };
        self.open.push(OpenPath {
            end,
            depth: self.path.len(),
            is_object,
            next: 0,
        });
        self.at += 1;
        if is_object {
            self.path.push(PartStep::Key(self.at));
            // The key itself may be the place.
            self.at += u32::from(self.at != node);
        } else {
            self.path.push(PartStep::Index(0));
        }
    }

    /// Goes on to the part after the current one.
    fn pass(&mut self, source: &Document, node: Node) {
        let mut next = source.end(self.at);
        while self.open.last().is_some_and(|last| last.end <= next) {
            if let Some(last) = self.open.pop() {
                self.path.truncate(last.depth);
                next = next.max(last.end);
            }
        }
        if let Some(last) = self.open.last_mut() {
            self.path.truncate(last.depth);
            last.next += 1;
            match last.is_object {
                true => {
                    self.path.push(PartStep::Key(next));
                    next += u32::from(next != node);
                }
                false => self.path.push(PartStep::Index(last.next)),
            }
        }
        self.at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_json::{JsonLimits, Table};

    fn shown(document: &Document, path: &[PartStep]) -> String {
        let step = |step: &PartStep| match step {
            PartStep::Key(key) => {
                String::from_utf8_lossy(document.text(*key).unwrap()).into_owned()
            }
            PartStep::Index(index) => index.to_string(),
        };
        path.iter().map(step).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn each_part_has_its_path() {
        let text = br#"{"a":[1,{"b":2,"c":[[],{}]}],"d":{"e":3}}"#;
        let table = Table::parse(text, JsonLimits::depth(10)).unwrap();
        let document = Document::new(text, &table);
        let mut values = Vec::new();
        for node in 0..document.end(0) {
            if document.text(node).is_none() {
                values.push(node);
            }
        }
        let wanted = [
            "", "a", "a/0", "a/1", "a/1/b", "a/1/c", "a/1/c/0", "a/1/c/1", "d", "d/e",
        ];
        let mut all = Paths::new(0);
        for (node, wanted) in values.iter().zip(wanted) {
            while !all.go_to(&document, *node, 1) {}
            assert_eq!(shown(&document, all.path(&document, *node)), wanted);
            let mut one = Paths::new(0);
            assert!(one.go_to(&document, *node, 100));
            assert_eq!(shown(&document, one.path(&document, *node)), wanted);
        }
    }
}
