//! Choices by name.

/// A choice that has a name, such as a loss.
pub trait Named: Copy + 'static {
    /// All of them, in the order in which they are listed.
    const ALL: &'static [Self];

    /// The name, as users and files spell it.
    fn name(self) -> &'static str;

    /// What it is, in a line.
    fn summary(self) -> &'static str;

    /// The choice of that name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name)
    }
}

/// An enum whose variants have names; the comment of a variant is its summary.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $Enum:ident, default $Default:ident {
        $($(#[doc = $doc:literal])+ $Variant:ident = $name:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Enum {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $Variant,)+
        }

        impl Default for $Enum {
            fn default() -> Self {
                $Enum::$Default
            }
        }

        impl $crate::wording::Named for $Enum {
            const ALL: &'static [Self] = &[$($Enum::$Variant),+];

            fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $name,)+ }
            }

            fn summary(self) -> &'static str {
                match self { $($Enum::$Variant => concat!($($doc),+).trim_start(),)+ }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::wording::Named::name(*self))
            }
        }
    };
}
pub(crate) use named;
