//! The type of a sample as a job: the value is read, then its type is made as a term.

use super::infer::{Budget, Sampling};
use super::terms::TypeTerms;
use super::ty::{TyId, Types};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;

/// Maximum number of values of a sample that are read.
const MOST_VALUES: usize = 200_000;

/// A sample whose type is being found.
#[derive(Debug)]
pub struct Sample<T> {
    sampling: Sampling<T>,
    terms: TypeTerms<T>,
    state: SampleState,
}

rooted!(Sample { states: sampling, terms; plain: state });

#[derive(Debug)]
struct SampleState {
    types: Types,
    ty: Option<TyId>,
}

impl<T: Copy> Sample<T> {
    /// Begins with a value, of which at most `rows` items of each list are read.
    pub fn new<H: Heap<Term = T>>(value: T, rows: usize, heap: &H) -> Self {
        let values = MOST_VALUES;
        Sample {
            sampling: Sampling::new(
                value,
                Budget {
                    rows,
                    values,
                    literals: false,
                },
                heap,
            ),
            terms: TypeTerms::default(),
            state: SampleState {
                types: Types::default(),
                ty: None,
            },
        }
    }
}

impl<H: Heap> Job<H> for Sample<H::Term> {
    /// The type.
    type Out = H::Term;

    fn step(&mut self, _text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<H::Term, Stop> {
        let types = &mut self.state.types;
        let ty = match self.state.ty {
            Some(ty) => ty,
            None => self.sampling.step(types, heap, meter)?,
        };
        self.state.ty = Some(ty);
        self.terms.make(ty, types, heap, meter)
    }
}
