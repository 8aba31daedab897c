//! What a reading gives: its events again, and the value that is built of them and judged.

pub(in crate::repair) mod judged;
pub(in crate::repair) mod replay;
