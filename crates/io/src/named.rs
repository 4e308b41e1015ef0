//! Enumerations whose variants have names, for options, files and messages.

use crate::error::{Error, Result};

/// An enumeration whose variants have names; [`named!`](crate::named!) declares one.
pub trait Named: Copy + 'static {
    /// Every variant, in the order of help texts.
    const ALL: &'static [Self];

    /// The variant's name.
    fn name(self) -> &'static str;

    /// The variant's meaning, for help texts; empty where the name says it.
    fn about(self) -> &'static str;

    /// The variant of this name.
    fn named(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name).ok_or_else(|| {
            let names = Self::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
            Error::usage(format!("`{name}` is not one of {names}"))
        })
    }
}

/// Declares an enumeration with `Variant: "name", "meaning";` a line, and implements [`Named`](crate::Named),
/// `Display` and `FromStr` for it. The meaning, if given, is the variant's documentation too.
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])* $visibility:vis enum $Enum:ident {
            $($(#[$of:meta])* $Variant:ident: $name:literal $(, $about:literal)?;)*
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $Enum {
            $($(#[$of])* $(#[doc = $about])? $Variant,)*
        }

        impl $crate::Named for $Enum {
            const ALL: &'static [$Enum] = &[$($Enum::$Variant),*];

            fn name(self) -> &'static str {
                match self {
                    $($Enum::$Variant => $name,)*
                }
            }

            fn about(self) -> &'static str {
                match self {
                    $($Enum::$Variant => concat!($($about)?),)*
                }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::Named::name(*self))
            }
        }

        impl std::str::FromStr for $Enum {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> $crate::error::Result<$Enum> {
                $crate::Named::named(name)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::named! {
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum Way {
            Up: "up", "against gravity";
            DownHill: "down-hill";
        }
    }

    #[test]
    fn a_name_comes_back_and_another_is_refused_with_those_that_there_are() {
        for way in Way::ALL {
            assert_eq!(way.to_string().parse::<Way>().unwrap(), *way);
        }
        assert_eq!(Way::ALL.iter().map(|way| way.about()).collect::<Vec<_>>(), ["against gravity", ""]);
        let error = "downhill".parse::<Way>().unwrap_err().to_string();
        assert_eq!(error, "`downhill` is not one of up, down-hill");
    }
}
