//! Operations with a body that make no list: tallies of the body's values, and searches that end at the first item
//! that decides.

use crate::execute::Execute;
use crate::frame::{Frame, Step, Stepped};
use crate::machine::{HaltOf, Machine};
use crate::program::{Loop, NO_CONST};
use ptc_term::heap::Heap;

/// What a search over a list does next.
pub enum Searched<T> {
    /// Run the body with this item.
    Call(T),
    /// End: this item decides.
    Found(T),
    /// End: no item decides.
    NotFound,
}

/// The next item of an operation with a body, and the items after it; `None` at the end of its list.
pub type Following<H, L> = Result<Option<(<H as Heap>::Term, <H as Heap>::Term)>, HaltOf<H, L>>;

impl<H: Heap, L: Execute> Machine<'_, H, L> {
    /// The step of a tally of the body's values. A value that cannot be added is an error before the next item is
    /// visited.
    #[inline]
    pub fn tally_values(
        &mut self,
        looped: &Loop<L>,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
    ) -> Stepped<H, L> {
        if frame.progress.second {
            return self.tallied(looped, frame);
        }
        let following = self.following(looped, frame)?;
        match (returned, &mut frame.progress.tally) {
            (Some(value), Some(tally)) => {
                tally.count_cost(self)?;
                let added = tally.add_value(self, value)?;
                added.map_err(|wrong| self.wrong(looped.op, wrong))?;
            }
            (_, tally) => *tally = L::tally(looped.op),
        }
        let Some((item, rest)) = following else {
            frame.progress.second = true;
            return self.tallied(looped, frame);
        };
        frame.walk.rest = rest;
        Ok(Step::Call(item))
    }

    fn tallied(&mut self, looped: &Loop<L>, frame: &mut Frame<H::Term>) -> Stepped<H, L> {
        match &mut frame.progress.tally {
            Some(tally) => match tally.finish(self, NO_CONST, None)? {
                Ok(value) => Ok(Step::Done(value)),
                Err(wrong) => Err(self.wrong(looped.op, wrong)),
            },
            None => Ok(Step::Done(self.heap.nil())),
        }
    }

    /// The step of a search for the first item for which the truth of the body's value is `decisive`. The list must be
    /// proper behind that item, too.
    #[inline]
    pub fn search_list(
        &mut self,
        looped: &Loop<L>,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
        decisive: bool,
    ) -> Result<Searched<H::Term>, HaltOf<H, L>> {
        if !frame.progress.second {
            let following = self.following(looped, frame)?;
            let decided = returned.is_some_and(|value| self.heap.truthy(value) == decisive);
            if let (Some((item, rest)), false) = (following, decided) {
                frame.walk.rest = rest;
                return Ok(Searched::Call(item));
            }
            frame.walk.ended_at = decided.then(|| self.slot(looped.item));
            frame.progress.second = true;
        }
        match (self.walk_to_end(&mut frame.walk.rest)?, frame.walk.ended_at) {
            (false, _) => Err(self.not_a_list(looped.op, self.slot(looped.list))),
            (true, Some(item)) => Ok(Searched::Found(item)),
            (true, None) => Ok(Searched::NotFound),
        }
    }

    /// Returns the next item of an operation with a body, and the items after it.
    #[inline]
    pub fn following(&mut self, looped: &Loop<L>, frame: &Frame<H::Term>) -> Following<H, L> {
        let rest = frame.walk.rest;
        let following = self.heap.uncons(rest);
        if following.is_none() && !self.heap.is_empty_list(rest) {
            return Err(self.not_a_list(looped.op, self.slot(looped.list)));
        }
        Ok(following)
    }
}
