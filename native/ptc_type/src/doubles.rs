//! Finds small map types with two fields that one key may name: names that are equal where hyphens and
//! underscores are equal.

use super::{Fields, Types};
use ptc_term::names::{as_underscore, is_alike};

/// Returns one of 64 bits for a name. Names that are equal, hyphens and underscores alike, have the same bit.
#[inline]
pub(super) fn bit(name: &[u8]) -> u64 {
    let byte = |at: usize| u32::from(name.get(at).copied().map_or(0, as_underscore));
    let last = name.len().saturating_sub(1);
    let parts = [byte(0), byte(name.len() / 2), byte(last)];
    let add = |sum: u32, part: u32| sum.wrapping_mul(31).wrapping_add(part);
    let sum = parts.into_iter().fold(name.len() as u32, add);
    1 << (sum.wrapping_mul(0x9E37_79B1) >> 26)
}

/// Returns whether two fields of a map type have names that one key may match. Quadratic in their number.
#[cold]
pub(super) fn any(types: &Types, fields: Fields) -> bool {
    fields.range().any(|index| {
        let name = types.field(index).name;
        (fields.range().start..index).any(|earlier| is_alike(types.field(earlier).name, name))
    })
}

#[cfg(test)]
mod tests {
    use crate::{Field, Scalar, Type, Types};

    fn has_doubles(names: &[&str]) -> bool {
        let mut types = Types::new();
        let holds = types.add(Type::Scalar(Scalar::Int));
        let field = |name: &&str| (name.to_string(), holds);
        let named: Vec<_> = names.iter().map(field).collect();
        types.add_fields(named.iter().map(|(name, holds)| Field {
            name: name.as_bytes(),
            holds: *holds,
        }));
        types.has_doubles()
    }

    #[test]
    fn names_that_one_key_may_match() {
        assert!(has_doubles(&["user_id", "x", "user-id"]));
        assert!(has_doubles(&["a-b_c", "a_b-c"]));
        assert!(has_doubles(&["", ""]));
        assert!(has_doubles(&["-", "_"]));
        assert!(!has_doubles(&[]));
        assert!(!has_doubles(&["", "x", "y", "xy", "yx"]));
        // More names than bits, of the same bit or not.
        let names: Vec<String> = (0..16).map(|n| format!("name_{n}_of")).collect();
        assert!(!has_doubles(
            &names.iter().map(|n| &**n).collect::<Vec<_>>()
        ));
    }
}
