//! The readings of a text: where each one is, what it has read, what it costs.

pub(in crate::repair) mod branch;
pub(in crate::repair) mod log;
pub(in crate::repair) mod reader;
pub(in crate::repair) mod same;
