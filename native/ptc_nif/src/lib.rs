//! The NIF library behind `PtcRunner.Native`: `ptc_core` over the BEAM's terms.
//!
//! * [`raw`]: terms in one word, and every call of the NIF interface that rustler has no cheap way
//!   for; with [`map_view`] the only rooms with `unsafe`
//! * [`heap`]: what the VM asks of terms; [`source`]: what the compiler asks of them
//! * [`execution`]: a run between two calls; [`program`], [`run`], [`decode`], [`encode`], [`table`],
//!   [`tools`]: the NIFs
//! * [`answer`], [`repair`], [`error_line`], [`stream`]: the NIFs for the answers of LLMs
//! * [`signature`]: types of values, and the walks over values
//! * [`wire`]: results as terms

mod answer;
mod atoms;
mod decode;
mod encode;
mod error_line;
mod execution;
mod heap;
mod map_view;
mod program;
mod raw;
mod repair;
mod run;
mod signature;
mod source;
mod stream;
mod table;
mod tools;
mod wire;

use rustler::{Env, Term};

fn load(env: Env, _info: Term) -> bool {
    // A panic is caught where it would leave a NIF and becomes an error there; the default hook
    // would print to the node's terminal on top.
    std::panic::set_hook(Box::new(|_| {}));
    map_view::look_before_use(env);
    true
}

rustler::init!("Elixir.PtcRunner.Native", load = load);
