//! Changes of a named layout: units, number type, order and padding.

use clap::{Args, ValueEnum};

use crate::{Error, Result};
use patzer_eval::nnue::layout::{Layout, Number as Type, Padding};

/// Deviations from a named layout.
#[derive(Debug, Args)]
pub(super) struct Units {
    /// Units of feature weights: an activation of 1 [default: the layout's, 255]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=32_767), help_heading = "Raw weights")]
    qa: Option<i32>,

    /// Units of later weights [default: the layout's, 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=32_767), help_heading = "Raw weights")]
    qb: Option<i32>,

    /// Centipawns of an output of 1 [default: the layout's, 400]
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(1..=100_000), help_heading = "Raw weights")]
    output_scale: Option<i32>,

    /// Number type of raw weights; biases of i8 have 16 bits [default: the layout's]
    #[arg(long, value_name = "TYPE", help_heading = "Raw weights")]
    dtype: Option<Number>,

    /// Matrices that the file has by columns, beside the layout's
    #[arg(
        long,
        value_name = "WHICH",
        value_delimiter = ',',
        help_heading = "Raw weights",
        hide_short_help = true
    )]
    transpose: Vec<Matrix>,

    /// The output bucket at each place of the file, such as 3,2,1,0, or reversed
    #[arg(long, value_name = "ORDER", help_heading = "Raw weights", hide_short_help = true)]
    bucket_order: Option<String>,

    /// What fills the file up to a multiple of 64 bytes [default: the layout's]
    #[arg(long, value_name = "WITH", help_heading = "Raw weights", hide_short_help = true)]
    pad: Option<Fill>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Number {
    I8,
    I16,
    /// Later weights of 8 bits, all else of 16
    I16I8,
    F32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
// The brackets are an order of weights, not links.
#[allow(rustdoc::broken_intra_doc_links)]
enum Matrix {
    /// Feature weights as [hidden][feature]
    Features,
    /// Later weights as [input][output]
    Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fill {
    None,
    Zeros,
    /// The word, as the trainer does
    Bullet,
}

impl Units {
    pub(super) fn is_empty(&self) -> bool {
        let Units { qa, qb, output_scale, dtype, transpose, bucket_order, pad } = self;
        let units = [qa, qb, output_scale].into_iter().all(Option::is_none);
        units && dtype.is_none() && transpose.is_empty() && bucket_order.is_none() && pad.is_none()
    }

    fn quantisation(&self) -> Option<&'static str> {
        self.qa.map(|_| "--qa").or(self.qb.map(|_| "--qb"))
    }

    pub(super) fn change(&self, mut layout: Layout, buckets: usize) -> Result<Layout> {
        layout.qa = self.qa.unwrap_or(layout.qa);
        layout.qb = self.qb.unwrap_or(layout.qb);
        layout.scale = self.output_scale.unwrap_or(layout.scale);
        match self.dtype {
            None => {}
            Some(Number::I8) => layout.set_numbers(Type::I8, false),
            Some(Number::I16) => layout.set_numbers(Type::I16, false),
            Some(Number::I16I8) => layout.set_numbers(Type::I8, true),
            Some(Number::F32) => layout.set_numbers(Type::F32, false),
        }
        if let Some(flag) = self.quantisation().filter(|_| layout.is_float()) {
            return Err(Error::usage(format!(
                "{flag}: floats are not quantised; --output-scale is their only unit"
            )));
        }
        if self.transpose.contains(&Matrix::Features) {
            layout.set_columns_of_features();
        }
        if self.transpose.contains(&Matrix::Outputs) {
            layout.set_columns_of_outputs();
        }
        layout.padding = match self.pad {
            None => layout.padding,
            Some(Fill::None) => Padding::None,
            Some(Fill::Zeros) => Padding::Zeros,
            Some(Fill::Bullet) => Padding::Bullet,
        };
        match self.bucket_order.as_deref() {
            None => {}
            Some("reversed") => layout.buckets = (0..buckets).rev().collect(),
            Some(text) => {
                let places: std::result::Result<Vec<usize>, _> =
                    text.split(',').map(|place| place.trim().parse()).collect();
                layout.buckets = places.map_err(|_| {
                    Error::usage(format!("--bucket-order {text}: numbers such as 3,2,1,0, or reversed"))
                })?;
            }
        }
        Ok(layout)
    }
}
