//! The command line as its users meet it: one file a command, all through the built binary.

mod net;
