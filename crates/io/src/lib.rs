#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod as_text;
mod byte_order_mark;
pub mod checked_line;
mod companion;
mod companion_path;
pub mod date;
mod digest;
mod earlier;
pub mod error;
mod fields;
mod files;
pub mod interrupt;
mod lock;
mod message_error;
mod named;
mod nearest;
pub mod number;
mod path_text;
mod printable;
pub mod run_folder;
mod sampled;
mod shard;
mod tensorboard;
pub mod trail;

pub use byte_order_mark::without_byte_order_mark;
pub use companion::{companion, sha256, verify_companion, write_companion, write_with_companion};
pub use companion_path::companion_path;
pub use digest::Digest;
pub use earlier::Earlier;
pub use fields::{difference, fields};
pub use files::{
    Compression, LONGEST_LINE, Limit, Output, ReadAt, ShortLines, archive, check_writable, create_folder,
    decompressed, destination, expand, has_archive_ending, is_stream, is_tar, named_again, nameless_file,
    open, parse, raw, read, read_as, read_at, read_plain, read_text, remove_if_exists, same_file, stdout,
    sync_folder, tar_files, temporary_folder, write,
};
pub use lock::{Lock, locked_by, try_lock};
pub use named::Named;
pub use nearest::{did_you_mean, nearest};
pub use path_text::{PathText, path_text};
pub use printable::{Printable, few_names, printable, printable_json, printable_lines, shortened};
pub use sampled::sampled_digest;
pub use shard::Shard;
