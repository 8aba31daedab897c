//! The NIF library behind `PtcRunner.Native`: the other crates over the BEAM's terms.
//!
//! * [`raw`]: terms as single words, the calls of the NIF interface for which rustler has no cheap
//!   wrapper, and terms read in place; with [`map_view`] the only modules with `unsafe`
//! * [`big_view`]: the length of a big integer; [`bits_view`]: unaligned binaries
//! * [`heap`]: the VM's access to terms
//! * [`handle`]: programs and runs of any language; [`execution`]: what starts and resumes a run; [`start`]: the NIF that starts one; [`resume`]:
//!   the NIFs that resume any work
//! * [`program`], [`decode`], [`encode`], [`table`], [`tools`]: the NIFs for programs, JSON and tools
//! * [`answer`], [`repair`], [`error_line`], [`stream`]: the NIFs for the answers of LLMs
//! * [`lisp`]: the compiler of PTC-Lisp
//! * [`weigh`]: the size of a copy of a term; [`normalize`]: converts values to another form
//! * [`signature`]: types of values, and the walks over values; [`rules`]: by which rules
//! * [`similar`]: the most similar of names
//! * [`explain`]: runs that are observed
//! * [`source`]: questions about the source of a compiled program
//! * [`clock`]: for tests, measures how long each NIF holds its thread
//! * [`bare`]: for the benchmarks, a plain loop over the interface
//! * [`schedule`]: slices and quanta, and NIFs in pairs; [`task`]: suspended work
//! * [`moving`]: the terms that a run takes to the process of its tools; [`guard`]: ends that process with
//!   its caller
//! * [`kept`]: answers that outlive the process of the tools
//! * [`wire`]: results as terms; [`panics`]: messages of panics for the log

mod answer;
mod asked;
mod atoms;
mod bare;
mod big_view;
mod bits_view;
mod check;
mod clock;
mod decode;
mod encode;
mod error_line;
mod execution;
mod explain;
mod guard;
mod handle;
mod heap;
mod kept;
mod lisp;
mod map_view;
mod moving;
mod names;
mod normalize;
mod panics;
mod program;
mod raw;
mod repair;
mod resume;
mod rules;
mod schedule;
mod signature;
mod similar;
mod source;
mod start;
mod stream;
mod structs;
mod table;
mod task;
mod texts;
mod tools;
mod weigh;
mod wire;

use rustler::{Env, Term};

/// Called when the library is loaded, with the release of Erlang/OTP, samples of binaries, and terms of other
/// kinds.
fn load<'a>(env: Env<'a>, info: Term<'a>) -> bool {
    type Info<'a> = (usize, bool, Term<'a>, Vec<Term<'a>>);
    let Ok((otp_release, nearest, samples, others)) = info.decode::<Info>() else {
        return false;
    };
    panics::keep_messages();
    let references = bits_view::references(samples);
    let others: Vec<_> = others.into_iter().map(raw::Raw::from).collect();
    map_view::look_before_use(env, &references, &others);
    big_view::look_before_use(env);
    bits_view::look_before_use(env, samples);
    heap::know_release(otp_release);
    ptc_term::number::round_to_nearest(nearest);
    true
}

rustler::init!("Elixir.PtcRunner.Native", load = load);
