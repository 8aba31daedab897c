//! Compiled programs and suspended runs of any language, as the NIFs hold them.

use crate::asked::LastAnswers;
use crate::heap::{Beam, OnBeam};
use crate::raw::{Raw, Terms};
use ptc_program::source::KeptSource;
use ptc_run::{Consts, Runnable, Running};
use rustler::{Error, NifResult, Resource, Term};
use std::sync::Arc;

/// A program of any language.
pub type AnyProgram = dyn Runnable<OnBeam>;
/// A run of a program of any language, without its terms.
pub type AnyRun = dyn Running<OnBeam>;

/// Resource of a compiled program; the caller holds its constants, as a tuple of terms.
pub struct Handle {
    pub program: Arc<AnyProgram>,
    /// Number of the program's constants.
    pub consts: usize,
    /// What is kept of the source of a PTC-JSON program: the caller holds the text.
    pub source: Option<Arc<KeptSource>>,
    /// The answers to what was asked about it last.
    pub asked: LastAnswers,
}

#[rustler::resource_impl]
impl Resource for Handle {}

impl Handle {
    /// What was kept of a program's source, if this is its text, or nil for a program that is a term.
    pub fn source_of<'a>(&self, terms: Terms<'a>, text: Raw<'a>) -> Option<Arc<KeptSource>> {
        let source = self.source.as_ref()?;
        source.is_text(terms.bytes(text)).then(|| source.clone())
    }
}

/// A tuple of constants.
pub fn consts_of<'a>(heap: &Beam<'a>, tuple: Raw<'a>) -> Option<Consts<'a, Raw<'a>>> {
    Some(Consts::Tuple(tuple, heap.terms.tuple(tuple)?))
}

/// The constants of a program, if this is their number.
#[inline]
pub fn right_consts<'a>(
    heap: &Beam<'a>,
    given: Term<'a>,
    count: usize,
) -> NifResult<Consts<'a, Raw<'a>>> {
    let consts = consts_of(heap, given.into()).filter(|it| it.slice().len() == count);
    consts.ok_or(Error::BadArg)
}
