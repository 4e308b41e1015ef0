//! Tests of the commands as a user runs them, a module a command.

mod extract;
mod net;
mod wdl;
