//! Enums whose variants have names; on the BEAM each variant is an atom of that name.

/// A fieldless enum whose variants have names.
pub trait Named: Copy + 'static {
    /// All variants, in the order of their declaration.
    const ALL: &'static [Self];

    /// Returns the name of the variant.
    fn name(self) -> &'static str;
}

/// Declares a [`Named`] enum, with a name for each variant.
#[doc(hidden)]
#[macro_export]
macro_rules! __named {
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

#[doc(inline)]
pub use __named as named;
