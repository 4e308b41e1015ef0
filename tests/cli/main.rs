//! Tests of the commands as a user runs them, a module a command.

mod bad_input;
mod elo;
mod engine;
mod eval;
mod extract;
mod help;
mod label;
mod net;
mod sprt;
mod tune;
mod wdl;
