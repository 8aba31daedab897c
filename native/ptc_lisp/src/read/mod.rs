//! The reader: from text to forms with positions.
