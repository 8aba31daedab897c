//! `partition` and `partition-all`: lists of so many items, each a step after the one before it.

use super::super::flow::{each, flow, keep, Call, Flow, Visit};
use super::{expect_collection, whole};
use crate::code::{Eval, Halt, Machine};
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_term::heap::Heap;

/// The sources: where the current chunk begins, its next item, and the items that fill the last chunk.
const START: usize = 0;
const NEXT: usize = 1;
const PAD: usize = 2;

/// The parts of the work.
const FILLING: usize = 0;
const PADDING: usize = 1;
const MAKING: usize = 2;
const STEPPING: usize = 3;
const ENDING: usize = 4;

/// `partition`, `partition-all`
pub(super) fn partition<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    (size, step, pad, coll): (H::Term, H::Term, Option<H::Term>, H::Term),
) -> Eval<H> {
    let chunks = Chunks {
        size: positive(m, call, size)?,
        step: positive(m, call, step)?,
        all: call.builtin == Builtin::PartitionAll,
        padded: pad.is_some(),
    };
    expect_collection(m, coll)?;
    let mut sources = vec![coll];
    if let Some(pad) = pad {
        match class(m, pad) {
            Class::List | Class::String | Class::Map | Class::Set => sources.push(pad),
            _ => return Err(call.refuse()),
        }
    }
    flow(m, &sources, |m, flow| {
        flow.read(m, call)?;
        if flow.sources.len() < 2 + usize::from(chunks.padded) {
            flow.add_read(NEXT, flow.sources[START]);
        }
        chunks.make(m, call, flow)
    })
}

/// Returns a number that must be positive.
fn positive<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    number: H::Term,
) -> Result<usize, Halt<H>> {
    match whole(m, number)? {
        Some(count @ 1..) => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
        _ => Err(call.fail("not_positive", &[number])),
    }
}

/// What chunks are made.
#[derive(Clone, Copy)]
struct Chunks {
    size: usize,
    step: usize,
    /// Whether chunks that are not full are kept.
    all: bool,
    /// Whether the last chunk is filled.
    padded: bool,
}

impl Chunks {
    fn make<H: Heap>(
        self,
        m: &mut Machine<'_, H>,
        call: Call<'_, H::Term>,
        flow: &mut Flow<H::Term>,
    ) -> Eval<H> {
        loop {
            match flow.part {
                FILLING => {
                    self.fill(m, call, flow, NEXT)?;
                    flow.part = match flow.kept.len() {
                        0 => ENDING,
                        kept if kept == self.size || self.all => MAKING,
                        _ if self.padded => PADDING,
                        _ => ENDING,
                    };
                }
                PADDING => {
                    self.fill(m, call, flow, PAD)?;
                    flow.part = MAKING;
                }
                MAKING => {
                    flow.end_list(m)?;
                    let is_last = !self.all && flow.at < self.size;
                    // Steps that are no shorter than a chunk go on behind it.
                    if self.step >= self.size {
                        flow.sources[START] = flow.sources[NEXT];
                    }
                    flow.at = 0;
                    flow.part = match is_last {
                        true => ENDING,
                        false => STEPPING,
                    };
                }
                STEPPING => {
                    let step = match self.step >= self.size {
                        true => self.step - self.size,
                        false => self.step,
                    };
                    flow.skip(m, call, step)?;
                    flow.sources[NEXT] = flow.sources[START];
                    (flow.part, flow.at) = (FILLING, 0);
                }
                _ => return flow.list_of_lists(m),
            }
        }
    }

    /// Keeps items of a source until the chunk is full. `at` is the number of those that are not of the pad.
    fn fill<H: Heap>(
        self,
        m: &mut Machine<'_, H>,
        call: Call<'_, H::Term>,
        flow: &mut Flow<H::Term>,
        source: usize,
    ) -> Result<(), Halt<H>> {
        let Flow {
            sources, at, kept, ..
        } = flow;
        let mut of_pad = 0;
        let at = match source {
            PAD => &mut of_pad,
            _ => at,
        };
        each(m, call, (&mut sources[source], at), |m, _, item| {
            if kept.len() == self.size {
                return Ok(Visit::Stop);
            }
            keep(m, kept, item)?;
            Ok(Visit::Next)
        })
    }
}
