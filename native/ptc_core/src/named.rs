//! Enums whose variants have names; on the BEAM each variant is an atom of that name.

/// A fieldless enum whose variants have names.
pub trait Named: Copy + 'static {
    /// All variants, in the order of their declaration.
    const ALL: &'static [Self];

    /// Returns the name of the variant.
    fn name(self) -> &'static str;
}

/// Declares a [`Named`] enum, with a name for each variant.
macro_rules! named {
    (
        $(#[$about:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$about])*
        $visibility enum $enum {
            $($(#[$doc])* $variant,)+
        }

        impl $crate::named::Named for $enum {
            const ALL: &'static [Self] = &[$($enum::$variant,)+];

            fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)+
                }
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::Named;
    use crate::fault::Code;
    use crate::ops::{FieldKind, Presence};
    use std::collections::HashSet;

    fn names<T: Named>() -> Vec<&'static str> {
        T::ALL.iter().map(|variant| variant.name()).collect()
    }

    #[test]
    fn no_two_variants_have_one_name() {
        for names in [names::<Code>(), names::<FieldKind>(), names::<Presence>()] {
            let different: HashSet<_> = names.iter().collect();
            assert_eq!(different.len(), names.len());
        }
    }
}
