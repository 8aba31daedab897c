//! A run that has failed: its fault is checked before it is reported.
//!
//! The check reads lists and terms, so it consumes fuel and can be suspended. Until it ends, the fault
//! is part of the run's state, and no instruction runs any more: the one that failed may have left its
//! loop.

use crate::execute::Execute;
use crate::halt::Halt;
use crate::machine::HaltOf;
use crate::run::Vm;
use crate::state::Failing;
use ptc_kernels::Why;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;

/// Words of a copy from which on a term in a fault may be too expensive to inspect.
const EXPENSIVE_TO_INSPECT: usize = 10_000;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Makes the run fail with this fault, see [`Vm::check_fault`].
    pub(super) fn fail(&mut self, fault: L::Fault<H::Term>) {
        (self.machine.work, self.machine.counting) = (None, None);
        self.failing = Some(Box::new(Failing {
            fault,
            loops: 0,
            rest: None,
            weighed: 0,
        }));
    }

    /// Checks the fault of a run that has failed; returns why the run halts.
    pub(super) fn check_fault(&mut self) -> HaltOf<H, L> {
        let Some(mut failing) = self.failing.take() else {
            return Halt::Stop(Stop::SliceOver);
        };
        match self.check(&mut failing) {
            Ok(()) => Halt::fault(failing.fault),
            Err(halt) => {
                self.failing = Some(failing);
                halt
            }
        }
    }

    fn check(
        &mut self,
        failing: &mut Failing<L::Fault<H::Term>, H::Term>,
    ) -> Result<(), HaltOf<H, L>> {
        self.find_earlier(failing)?;
        self.weigh_terms(failing)
    }

    /// A loop reads its list item by item, but the list must be proper. So a fault inside counts only
    /// if the lists of all enclosing loops are proper.
    fn find_earlier(
        &mut self,
        failing: &mut Failing<L::Fault<H::Term>, H::Term>,
    ) -> Result<(), HaltOf<H, L>> {
        let machine = &mut self.machine;
        machine.meter.begin_uncounted();
        while let Some(frame) = self.frames.get(failing.loops) {
            let Some(looped) = self.program.code[frame.at as usize].as_loop() else {
                break;
            };
            let list = machine.slot(looped.list);
            let is_proper = machine.walk_to_end(failing.rest.get_or_insert(list))?;
            failing.rest = None;
            failing.loops += 1;
            if !is_proper {
                failing.fault = L::wrong(looped.op, Why::NotAList, vec![list]);
                failing.loops = self.frames.len();
            }
        }
        Ok(())
    }

    /// Finds out whether the terms of the fault can be inspected, which costs as much as copying
    /// them.
    fn weigh_terms(
        &mut self,
        failing: &mut Failing<L::Fault<H::Term>, H::Term>,
    ) -> Result<(), HaltOf<H, L>> {
        while let Some(term) = L::terms(&failing.fault).get(failing.weighed).copied() {
            // This keeps no progress within one term.
            self.machine.meter.begin_whole();
            self.check_copy_limit(term)?;
            let is_expensive = self.takes_more(term, EXPENSIVE_TO_INSPECT)?;
            if is_expensive {
                L::limit_inspection(&mut failing.fault);
            }
            failing.weighed += 1;
            self.machine.meter.advanced();
        }
        Ok(())
    }
}
