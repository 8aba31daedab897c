//! A heap of plain Rust values.
