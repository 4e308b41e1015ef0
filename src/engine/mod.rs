//! The bundled engine.

pub mod uci;
