//! `now`: the time of the run's start.

use crate::code::{Instr, NOW};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::ops::{Field, Operation, Planned};
use crate::shape::{Leaf, OpShape};

pub(in crate::ops) struct Now;

impl Operation for Now {
    const NAME: &'static str = "now";
    const FAMILY: &'static str = "Dates";
    const ABOUT: &'static str = "The time of the run's start, in UTC: 2024-02-29T10:30:00Z.";
    const TYPES: &'static str = "text";
    const SHAPE: OpShape = OpShape::Leaf(Leaf::Clock);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];

    fn plan(plan: &mut Plan) -> Planned {
        plan.emit(Instr::Slot(NOW));
        Ok(())
    }
}
