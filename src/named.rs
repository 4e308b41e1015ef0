//! Arguments whose values are the names of an enumeration.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use patzer_io::Named;

/// Parses a name of `T`; help texts list the names with their meanings.
pub fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let value = |one: &T| match one.about() {
        "" => PossibleValue::new(one.name()),
        about => PossibleValue::new(one.name()).help(about),
    };
    PossibleValuesParser::new(T::ALL.iter().map(value)).try_map(|name| T::named(&name))
}
