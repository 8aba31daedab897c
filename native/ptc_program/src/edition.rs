//! The editions of the language.

/// An edition of PTC-JSON. A compiled program keeps its edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edition {
    /// The language of the reference.
    One,
    /// The language of the reference with templates, computed arguments of tools and more operations.
    Two,
}

impl Edition {
    /// Returns the edition of this number.
    pub fn of_number(number: u32) -> Option<Edition> {
        match number {
            1 => Some(Edition::One),
            2 => Some(Edition::Two),
            _ => None,
        }
    }

    /// Returns its number.
    pub fn number(self) -> u32 {
        match self {
            Edition::One => 1,
            Edition::Two => 2,
        }
    }
}
