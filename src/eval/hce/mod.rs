//! Hand-crafted evaluation.
