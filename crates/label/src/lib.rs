#![doc = include_str!("../README.md")]

pub mod selfplay;
pub mod tables;
pub mod teacher;
