//! Names: matching of map keys with declared fields, spellings, which names keywords have, and how long names of atoms are.

/// Maximum number of characters of an atom's name.
pub const ATOM_CHARACTERS: usize = 255;

/// Maximum bytes of an atom's name: no character takes more than four.
pub const ATOM_BYTES: usize = 4 * ATOM_CHARACTERS;

/// How keys are matched with a declared name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// By equality.
    Exact,
    /// By equality, where hyphens and underscores are equal, as LLMs mix them.
    Lenient,
    /// Leniently, except for an atom with hyphens that is not the declared name.
    Spelled,
    /// By equality with the declared name with underscores only.
    Underscored,
}

/// The kind of a key that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An atom.
    Atom,
    /// A string.
    String,
    /// A keyword of PTC-Lisp: `%PtcRunner.Lisp.Keyword{}`.
    Keyword,
}

impl KeyKind {
    /// All kinds, best first.
    pub const ALL: [KeyKind; 3] = [KeyKind::Atom, KeyKind::String, KeyKind::Keyword];
}

/// Returns how well a key matches a declared name, 0 being best; `None` if it does not match.
///
/// The order is: the name with underscores only, the name itself, the name with hyphens only; for each
/// of them first the atom, then the string, then the keyword.
#[inline]
pub fn rank(declared: &[u8], key: &[u8], kind: KeyKind, matching: Matching) -> Option<u8> {
    if declared.len() != key.len() {
        return None;
    }
    let variant = match matching {
        Matching::Exact => (declared == key).then_some(0)?,
        Matching::Lenient => variant(declared, key)?,
        Matching::Spelled if is_hyphened(declared, key, kind) => return None,
        Matching::Spelled => variant(declared, key)?,
        Matching::Underscored => variant(declared, key).filter(|variant| *variant == 0)?,
    };
    Some(KeyKind::ALL.len() as u8 * variant + kind as u8)
}

/// Returns whether the key is an atom with hyphens that is not the declared name: [`Matching::Spelled`] does not
/// find it.
pub fn is_hyphened(declared: &[u8], key: &[u8], kind: KeyKind) -> bool {
    kind == KeyKind::Atom && declared != key && key.contains(&b'-')
}

fn variant(declared: &[u8], key: &[u8]) -> Option<u8> {
    let (mut differs, mut hyphens, mut underscores) = (false, false, false);
    for (a, b) in declared.iter().zip(key) {
        differs |= a != b;
        match b {
            b'-' => hyphens = true,
            b'_' => underscores = true,
            _ if a == b => continue,
            _ => return None,
        }
        if !matches!(a, b'-' | b'_') {
            return None;
        }
    }
    match (hyphens, differs, underscores) {
        (false, _, _) => Some(0),
        (true, false, _) => Some(1),
        (true, true, false) => Some(2),
        (true, true, true) => None,
    }
}

/// Returns the names that match a declared name, best first; each may be any [`KeyKind`].
pub fn candidates(declared: &[u8], matching: Matching) -> Vec<Vec<u8>> {
    if matching == Matching::Exact {
        return vec![declared.to_vec()];
    }
    let low = underscored(declared);
    if matching == Matching::Underscored {
        return vec![low];
    }
    let high = low.iter().map(|byte| hyphen(*byte)).collect();
    let mut all = vec![low];
    for other in [declared.to_vec(), high] {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// Returns whether the field is hidden from LLMs and parent agents: its name starts with an underscore
/// or a hyphen.
pub fn is_firewalled(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'_' | b'-'))
}

/// Returns the byte, but an underscore for a hyphen.
#[inline]
pub fn as_underscore(byte: u8) -> u8 {
    match byte {
        b'-' => b'_',
        byte => byte,
    }
}

fn hyphen(byte: u8) -> u8 {
    match byte {
        b'_' => b'-',
        byte => byte,
    }
}

/// Converts a name to underscores only.
pub fn underscored(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| as_underscore(*byte)).collect()
}

/// Returns whether two names differ at most in hyphens and underscores.
pub fn is_alike(a: &[u8], b: &[u8]) -> bool {
    let same = |(a, b): (&u8, &u8)| as_underscore(*a) == as_underscore(*b);
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Returns a name without the characters in which spellings like `userId` and `user_id` differ. A sign in front of a name is
/// no spelling of it: it may mean the opposite.
pub fn squeezed(name: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let counts = |byte: &&u8| !matches!(**byte, b'_' | b'-' | b' ');
    let sign = name.first().filter(|byte| **byte == b'-');
    let letters = name.iter().filter(counts).map(u8::to_ascii_lowercase);
    sign.copied().into_iter().chain(letters)
}

/// Returns whether a keyword can have this name.
pub fn is_keyword_name(name: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-*<=>?!_".contains(byte);
    !name.is_empty() && name.iter().all(allowed)
}

/// Converts a name to the form for Lisp programs: hyphens for underscores, except at the start.
pub fn lisp_key(name: &[u8]) -> Vec<u8> {
    let mut key: Vec<u8> = name.iter().map(|byte| hyphen(*byte)).collect();
    if name.first() == Some(&b'_') {
        key[0] = b'_';
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_order_of_the_candidates() {
        let names = ["user_id", "user-id", "_a-b_c", "x", "", "-", "__"];
        let keys = [
            "user_id", "user-id", "_a_b_c", "_a-b_c", "-a-b-c", "-a_b-c", "x", "y", "", "-", "_",
            "__", "--", "-_",
        ];
        for matching in [Matching::Exact, Matching::Lenient, Matching::Underscored] {
            for name in names.map(str::as_bytes) {
                let candidates = candidates(name, matching);
                for key in keys.map(str::as_bytes) {
                    let place = candidates.iter().position(|other| other == key);
                    let ranks = KeyKind::ALL.map(|kind| rank(name, key, kind, matching));
                    let order = |rank: Option<u8>| {
                        // Without duplicates, only the order of the ranks is the same.
                        rank.map(|rank| {
                            let better = |other: &&Vec<u8>| {
                                let kind = KeyKind::ALL[rank as usize % KeyKind::ALL.len()];
                                super::rank(name, other, kind, matching) < Some(rank)
                            };
                            candidates.iter().filter(better).count()
                        })
                    };
                    assert_eq!(ranks.map(order), [place; 3], "{name:?} {key:?}");
                }
            }
        }
    }

    #[test]
    fn atoms_with_hyphens_have_one_spelling() {
        let spelled = |key: &[u8], kind| rank(b"a_b", key, kind, Matching::Spelled);
        assert_eq!(spelled(b"a-b", KeyKind::Atom), None);
        assert_eq!(spelled(b"a-b", KeyKind::String), Some(7));
        assert_eq!(spelled(b"a_b", KeyKind::Atom), Some(0));
        assert_eq!(
            rank(b"a-b", b"a-b", KeyKind::Atom, Matching::Spelled),
            Some(3)
        );
        assert_eq!(
            rank(b"a-b", b"a_b", KeyKind::Atom, Matching::Spelled),
            Some(0)
        );
    }

    #[test]
    fn lisp_keys_keep_one_underscore() {
        for (name, key) in [("__a_b", "_-a-b"), ("_", "_"), ("", ""), ("a_b", "a-b")] {
            assert_eq!(lisp_key(name.as_bytes()), key.as_bytes());
        }
    }
}
