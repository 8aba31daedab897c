//! Operations on numbers of edition 2: `mod`, `abs`, `floor`, `ceil`, `median`, `percentile`.

mod modulo;
pub(super) mod rank;
mod whole;

pub(super) use modulo::Mod;
pub(super) use rank::{Median, Percentile};
pub(super) use whole::{Abs, Ceil, Floor};
