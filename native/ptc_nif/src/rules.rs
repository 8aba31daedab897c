//! The rules for values and signatures, which depend on the release of ptc_runner in the application: those of
//! this library, until `use_rules/1` sets others.

use crate::clock::nif;
use ptc_type::Rules;
use rustler::Atom;

nif! {
    /// Sets the rules for the whole VM.
    fn use_rules(before_0_11: bool) -> Atom {
        Rules::use_before_0_11(before_0_11);
        crate::atoms::ok()
    }
}
