//! What the walk knows of a program that is observed: its operations, and where the walk is.

use super::Walk;
use crate::analysis::names::ByNumber;
use crate::opcode::OpCode;
use ptc_json::Node;
use ptc_vm::explain::{Detail, PathPart, Site, COUNTED_LISTS};
use std::collections::HashMap;

/// A part that could be an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub node: Node,
    pub field: Option<&'static str>,
    /// Its index in a list, or its key in an object.
    pub inside: Option<PathPart<Node>>,
    /// The index of the part that it is in, if that is a template.
    pub around: Option<usize>,
}

/// The operations of a program that is compiled for observation.
#[derive(Debug)]
pub(super) struct Observer {
    pub(super) detail: Detail,
    pub(super) sites: Vec<Site>,
    /// The operations around the current step, innermost last.
    pub(super) open: Vec<OpenOperation>,
    /// Path of the part that is being visited and is not open yet, from the operation around it.
    pub(super) at: Option<Vec<PathPart>>,
    /// Path of the error that ended the walk.
    pub(super) mistake: Vec<PathPart<Node>>,
}

/// Number of parts that are searched one by one.
const FEW_PARTS: usize = 16;

/// An operation whose parts are being compiled.
#[derive(Debug)]
pub(super) struct OpenOperation {
    pub(super) site: u32,
    pub(super) op: OpCode,
    pub(super) parts: Vec<Part>,
    /// Index after the last part that was found: most operations compile their parts in order.
    pub(super) next: usize,
    /// The indexes of many parts.
    pub(super) places: HashMap<Node, usize, ByNumber>,
    /// How many parts these are.
    pub(super) placed: usize,
}

/// The state of an observer, to restore it if a step has to be done again.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObserverMark {
    sites: usize,
    open: usize,
    next: usize,
}

impl Observer {
    fn seen(&self) -> ObserverMark {
        ObserverMark {
            sites: self.sites.len(),
            open: self.open.len(),
            next: self.open.last().map_or(0, |open| open.next),
        }
    }

    fn go_back(&mut self, to: ObserverMark) {
        self.sites.truncate(to.sites);
        self.open.truncate(to.open);
        self.at = None;
        if let Some(open) = self.open.last_mut() {
            open.next = to.next;
        }
    }
}

impl OpenOperation {
    /// Returns the index of a part.
    pub(super) fn find(&mut self, node: Node) -> Option<usize> {
        let count = self.parts.len();
        let next = self.next.min(count);
        let soon = next..count.min(next + FEW_PARTS);
        let at = match { soon }.find(|at| self.parts[*at].node == node) {
            Some(at) => at,
            None => self.place(node)?,
        };
        self.next = at + 1;
        Some(at)
    }

    fn place(&mut self, node: Node) -> Option<usize> {
        let count = self.parts.len();
        if count <= FEW_PARTS {
            return (0..count).find(|at| self.parts[*at].node == node);
        }
        // Parts may have been added since, see `note_parts`.
        for at in std::mem::replace(&mut self.placed, count)..count {
            self.places.insert(self.parts[at].node, at);
        }
        self.places.get(&node).copied()
    }
}

impl Walk {
    /// Makes a walk that has not begun compile the program for observation.
    pub fn observed(mut self: Box<Self>, detail: Detail) -> Box<Self> {
        self.observer = Some(Box::new(Observer {
            detail,
            sites: Vec::new(),
            open: Vec::new(),
            at: None,
            mistake: Vec::new(),
        }));
        self
    }

    /// Forgets all operations that were found.
    pub(super) fn forget_sites(&mut self) {
        let none = ObserverMark {
            sites: 0,
            open: 0,
            next: 0,
        };
        self.go_back(Some(none));
    }

    pub(super) fn seen(&self) -> Option<ObserverMark> {
        self.observer.as_ref().map(|observer| observer.seen())
    }

    pub(super) fn go_back(&mut self, to: Option<ObserverMark>) {
        if let (Some(observer), Some(to)) = (&mut self.observer, to) {
            observer.go_back(to);
        }
    }

    /// Takes the operations out at the end of the walk; reserves the slots for the lists of the
    /// run.
    pub(super) fn take_sites(&mut self) -> (Vec<Site>, Detail) {
        match self.observer.take() {
            Some(observer) => {
                if observer.detail == Detail::All {
                    self.slots += COUNTED_LISTS;
                }
                (observer.sites, observer.detail)
            }
            None => (Vec::new(), Detail::All),
        }
    }

    /// Returns the path of the error that ended the walk, if the program is observed.
    pub fn mistake(&self) -> Option<&[PathPart<Node>]> {
        let observer = self.observer.as_ref();
        observer.map(|observer| &observer.mistake[..])
    }

    /// Keeps the path of the error that ends the walk.
    #[cold]
    pub(super) fn keep_mistake(&mut self) {
        let path = self.path();
        if let Some(observer) = &mut self.observer {
            observer.mistake = path;
        }
    }

    /// Returns the current path: that of the part that is being visited, or else that of the
    /// innermost operation whose parts are being compiled.
    pub(super) fn path(&self) -> Vec<PathPart<Node>> {
        let Some(observer) = &self.observer else {
            return vec![];
        };
        let mut path = Vec::new();
        let mut step = |parts: &[PathPart]| {
            path.extend(parts.iter().rev().map(|part| match *part {
                PathPart::Field(name) => PathPart::Field(name),
                PathPart::Index(index) => PathPart::Index(index),
                PathPart::Key(id) => PathPart::Key(self.consts[id as usize]),
            }))
        };
        observer.at.iter().for_each(|at| step(at));
        let mut next = observer.open.last().map(|open| open.site);
        while let Some(site) = next.and_then(|site| observer.sites.get(site as usize)) {
            step(&site.path);
            next = site.parent;
        }
        path.reverse();
        path
    }
}
