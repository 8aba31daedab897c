//! `tree-seq`: the nodes of a tree, depth first.

use super::accept::keep;
use super::function::{Applied, FunctionLike};
use super::Turn;
use crate::code::{Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::families::seqs;
use crate::table::Builtin;
use ptc_kernels::Listing;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// What is found out about the current node.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TreeStage {
    /// The next node is taken.
    Next,
    /// Whether it has children.
    Branch,
    /// Its children.
    Children,
    /// The list is made.
    Listing,
}

/// A tree that is walked.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree<T> {
    branch: FunctionLike<T>,
    children: FunctionLike<T>,
    root: T,
    node: T,
    stage: TreeStage,
    awaits: bool,
    /// The value of a function for the node, until it is taken.
    value: Option<T>,
    has_begun: bool,
    /// The nodes that are not visited yet, on each level.
    rests: Roots<T>,
    kept: Roots<T>,
    listing: Listing<T>,
}

rooted!(Tree {
    terms: root, node; optional: value; states: branch, children, rests, kept, listing; plain: stage, awaits, has_begun
});

impl<T: Copy> Tree<T> {
    /// The start.
    pub fn of((branch, children): (FunctionLike<T>, FunctionLike<T>), root: T) -> Self {
        Tree {
            branch,
            children,
            root,
            node: root,
            stage: TreeStage::Next,
            awaits: false,
            value: None,
            has_begun: false,
            rests: Roots::default(),
            kept: Roots::default(),
            listing: Listing::default(),
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if self.awaits {
            (self.value, self.awaits) = (returned, false);
        }
        loop {
            if let Some(value) = self.value {
                self.take(m, value)?;
                self.value = None;
                m.meter.advanced();
            }
            let function = match self.stage {
                TreeStage::Next => {
                    m.consume_fuel(1)?;
                    self.next(m)?;
                    continue;
                }
                TreeStage::Branch => &mut self.branch,
                TreeStage::Children => &mut self.children,
                TreeStage::Listing => return Ok(Turn::done(self.listing.all(m, &self.kept)?)),
            };
            match function.apply(m, self.node)? {
                Applied::Value(value) => self.value = Some(value),
                Applied::Called => {
                    let next = function.call(m, &[self.node])?;
                    self.awaits = true;
                    return Ok(Turn::Next(next));
                }
                Applied::Refused => {
                    let given = [self.branch.term, self.children.term, self.root];
                    return Err(invalid_types(Builtin::TreeSeq, &given));
                }
            }
        }
    }

    /// Takes the next node.
    fn next<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        let next = match self.has_begun {
            false => Some((self.root, None)),
            true => {
                let last = self.rests.last_mut(m.heap).map(|rest| *rest);
                match last.map(|rest| m.heap.uncons(rest)) {
                    None => None,
                    Some(None) => {
                        self.rests.take_last(m.heap);
                        m.meter.advanced();
                        return Ok(());
                    }
                    Some(Some((node, tail))) => Some((node, Some(tail))),
                }
            }
        };
        let Some((node, tail)) = next else {
            self.stage = TreeStage::Listing;
            return Ok(());
        };
        keep(m, &mut self.kept, node)?;
        if let (Some(tail), Some(rest)) = (tail, self.rests.last_mut(m.heap)) {
            *rest = tail;
        }
        (self.node, self.stage, self.has_begun) = (node, TreeStage::Branch, true);
        m.meter.advanced();
        Ok(())
    }

    /// Takes the value of a function for the current node.
    fn take<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>, value: T) -> Result<(), Halt<H>> {
        self.stage = match self.stage {
            TreeStage::Branch if m.heap.truthy(value) => TreeStage::Children,
            TreeStage::Children => {
                let items = seqs::items(m, value)?;
                keep(m, &mut self.rests, items)?;
                TreeStage::Next
            }
            _ => TreeStage::Next,
        };
        Ok(())
    }
}
