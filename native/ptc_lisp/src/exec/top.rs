//! What many instructions do with the values on top of the stack: replace them, or fail.

use crate::code::Machine;
use crate::fault::Fault;
use ptc_term::heap::Heap;
use ptc_vm::Halt as VmHalt;

/// Replaces so many values on the stack by one.
#[inline]
pub fn replace<H: Heap>(m: &mut Machine<'_, H>, count: u32, value: H::Term) {
    m.drop_top(count as usize);
    m.push(value);
}

/// The halt of a fault with these terms.
#[cold]
pub fn fault<T>(code: &'static str, name: &'static str, terms: Vec<T>) -> VmHalt<Fault<T>> {
    VmHalt::fault(Fault::of(code, name, terms))
}
