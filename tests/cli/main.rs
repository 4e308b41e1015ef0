//! Tests of the commands as a user runs them, a module a command.

mod elo;
mod extract;
mod net;
mod sprt;
mod wdl;
