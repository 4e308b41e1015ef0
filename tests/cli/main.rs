//! Tests of the command line, one file a command.

mod wdl;
