/// Declares an error type that is its message.
#[macro_export]
macro_rules! message_error {
    ($name:ident) => {
        /// An error that is its message.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub(crate) String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::error::Error for $name {}
    };
}
