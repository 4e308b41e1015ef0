#![doc = include_str!("../README.md")]

pub mod labelled_cache;
pub mod leaf;
pub mod prepare;
pub mod selfplay;
pub mod tables;
pub mod teacher;
