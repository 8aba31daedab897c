//! NIF entry points.
rustler::init!("Elixir.PtcRunner.Native");
