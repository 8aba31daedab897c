//! `merge_tools/2`: merges the tools of a call.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::{charge_for, nif_pair, Pace, TOOLS};
use ptc_kernels::merge::{merge_lists, Merged};
use ptc_term::meter::{Limits, Meter};
use ptc_term::workspace::Workspace;
use rustler::{Encoder, Term};

/// Number of tools merged in a microsecond.
const TOOLS_A_MICROSECOND: usize = 20;

nif_pair! {
    /// `{:ok, merged}`: `overrides` merged into `tools` by name, or just `tools` if either is not a proper
    /// list; or `:busy`. Not suspended: the result is as long as the two lists, which the caller holds.
    fn merge_tools, merge_tools_dirty<'a>(env, pace, tools: Term<'a>, overrides: Term<'a>) -> Term<'a> {
        let limit = match pace {
            Pace::Quantum => usize::MAX,
            Pace::Slice | Pace::Probe => TOOLS,
        };
        let mut heap = Beam::new(env, 0);
        let name = Raw::from(atoms::name().encode(env));
        let mut meter = Meter::whole(Limits::UNLIMITED, pace);
        let mut work = Workspace::in_one_go(&mut heap, &mut meter);
        // On a dirty scheduler, only work whose caller has ended is stopped.
        match merge_lists(&mut work, name, [tools, overrides].map(Raw::from), limit) {
            Merged::Items(merged) => {
                charge_for(env, pace, merged.len(), TOOLS_A_MICROSECOND);
                let merged = Terms { env }.make_list(&merged);
                (atoms::ok(), merged.term(env)).encode(env)
            }
            Merged::Improper => (atoms::ok(), tools).encode(env),
            Merged::TooLong => atoms::busy().encode(env),
        }
    }
}
