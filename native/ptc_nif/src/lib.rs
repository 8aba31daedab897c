//! The NIF library behind `PtcRunner.Native`: `ptc_core` over the BEAM's terms.
//!
//! * [`raw`]: terms in one word, and every call of the NIF interface that rustler has no cheap way
//!   for, and terms read in place; with [`map_view`] the only rooms with `unsafe`
//! * [`big_view`]: the length of a big integer; [`bits_view`]: binaries that do not start at a byte
//! * [`heap`]: what the VM asks of terms; [`source`]: what the compiler asks of them
//! * [`execution`]: a run between two calls; [`program`], [`run`], [`decode`], [`encode`], [`table`],
//!   [`tools`]: the NIFs
//! * [`answer`], [`repair`], [`error_line`], [`stream`]: the NIFs for the answers of LLMs
//! * [`weigh`]: what a copy of a term takes; [`normalize`]: values in another form
//! * [`signature`]: types of values, and the walks over values
//! * [`explain`]: runs that are observed
//! * [`clock`]: for tests, how long each NIF holds its thread
//! * [`bare`]: for the benchmarks, a plain loop over the interface
//! * [`schedule`]: when a call leaves its thread, and NIFs in pairs; [`task`]: work that is left between
//!   two calls
//! * [`moving`]: what a run takes along to the process of its tools; [`guard`]: that process ends with
//!   its caller
//! * [`fork`]: the rounds of a loop, beside one another
//! * [`wire`]: results as terms; [`panics`]: what the log gets to see of bugs

mod answer;
mod atoms;
mod bare;
mod big_view;
mod bits_view;
mod clock;
mod decode;
mod encode;
mod error_line;
mod execution;
mod explain;
mod fork;
mod guard;
mod heap;
mod map_view;
mod moving;
mod names;
mod normalize;
mod panics;
mod program;
mod raw;
mod repair;
mod run;
mod schedule;
mod signature;
mod source;
mod stream;
mod table;
mod task;
mod tools;
mod weigh;
mod wire;

use rustler::{Env, Term};

/// Called when the library is loaded, with the release of Erlang/OTP and samples of binaries.
fn load<'a>(env: Env<'a>, info: Term<'a>) -> bool {
    let Ok((otp_release, samples)) = info.decode::<(usize, Term)>() else {
        return false;
    };
    panics::keep_messages();
    let references = bits_view::references(samples);
    map_view::look_before_use(env, &references);
    big_view::look_before_use(env);
    bits_view::look_before_use(env, samples);
    weigh::know_release(otp_release);
    true
}

rustler::init!("Elixir.PtcRunner.Native", load = load);
