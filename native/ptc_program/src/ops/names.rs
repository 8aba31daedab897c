//! The operations by their names.

use super::{OpCode, NAMES};

/// Returns the operation of this name.
pub(super) fn find(name: &[u8]) -> Option<OpCode> {
    OpNames::find(name)
}

/// The operations by name: open addressing, at most a fifth full.
struct OpNames;

impl OpNames {
    const SIZE: usize = 512;
    /// The index of each operation plus one; 0 is free.
    const PLACES: [u8; OpNames::SIZE] = OpNames::places();

    const fn places() -> [u8; OpNames::SIZE] {
        let mut places = [0; OpNames::SIZE];
        let mut index = 0;
        while index < NAMES.len() {
            let mut at = OpNames::hash(NAMES[index].as_bytes());
            while places[at] != 0 {
                at = (at + 1) % OpNames::SIZE;
            }
            index += 1;
            places[at] = index as u8;
        }
        places
    }

    /// Hashes the length and three letters of a name that is not empty.
    const fn hash(name: &[u8]) -> usize {
        let length = name.len();
        let letters = [length as u8, name[0], name[length / 2], name[length - 1]];
        (u32::from_le_bytes(letters).wrapping_mul(0x9E37_79B1) >> 23) as usize
    }

    fn find(name: &[u8]) -> Option<OpCode> {
        let mut at = OpNames::hash(match name {
            [] => return None,
            name => name,
        });
        loop {
            let index = usize::from(OpNames::PLACES[at]).checked_sub(1)?;
            if NAMES[index].as_bytes() == name {
                return Some(OpCode::ALL[index]);
            }
            at = (at + 1) % OpNames::SIZE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::Edition;

    #[test]
    fn every_name_finds_its_operation() {
        for op in OpCode::ALL {
            assert_eq!(
                OpCode::from_name(op.name().as_bytes(), Edition::Two),
                Some(*op)
            );
        }
        assert_eq!(OpCode::from_name(b"flter", Edition::Two), None);
        assert_eq!(OpCode::from_name(b"", Edition::Two), None);
    }
}
