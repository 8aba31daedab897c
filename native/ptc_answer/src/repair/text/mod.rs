//! Bytes at an offset: blanks, words, quotes, numbers, escapes, lines, and where an answer may begin.

pub(in crate::repair) mod lines;
pub(in crate::repair) mod numbers;
pub(in crate::repair) mod scan;
pub(in crate::repair) mod start;
pub(in crate::repair) mod unescape;
