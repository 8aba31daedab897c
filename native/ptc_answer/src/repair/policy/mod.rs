//! What is asked of a text, and which faults of it are repaired, at which cost.

pub(in crate::repair) mod fault;
pub(in crate::repair) mod wanted;
