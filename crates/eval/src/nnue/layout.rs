//! Raw layouts of other engines and trainers: the numbers of a network without a header, in their order and units.

#[cfg(test)]
mod tests;

use super::architecture::{Activation, Architecture, KingBuckets, MAX_HIDDEN};
use super::network::{About, BodyError, Network, QA, QB, SCALE};
use super::weights::Weights;

/// Number type of a raw file. Biases of an `i8` file have 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    I8,
    I16,
    /// Without quantisation: an activation of 1 is 1.
    F32,
}

/// Bytes after the last number, up to a multiple of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    None,
    Zeros,
    /// The word `bullet`, again and again.
    Bullet,
}

/// Order and units of a raw file's numbers: feature weights, their bias, piece-square values, then the later layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub dtype: Dtype,
    pub qa: i32,
    pub qb: i32,
    pub scale: i32,
    /// Feature weights are `[hidden][row]`, not `[row][hidden]`.
    pub columns_of_features: bool,
    /// Later weights are `[input][output]` with the output buckets' outputs side by side, not `[output][input]`.
    pub columns_of_outputs: bool,
    /// Each later layer has its weights and biases for all output buckets together; else all weights come first.
    pub by_layer: bool,
    /// The output bucket at each place of the file; empty for 0, 1, 2, ...
    pub buckets: Vec<usize>,
    pub padding: Padding,
}

/// A layout with a name, and the architecture that it has unless another one is given.
pub struct NamedLayout {
    pub name: &'static str,
    pub about: &'static str,
    pub layout: fn() -> Layout,
    pub architecture: fn() -> Architecture,
}

impl Default for Layout {
    /// The layout of a .nnue file's body.
    fn default() -> Layout {
        Layout {
            dtype: Dtype::I16,
            qa: QA,
            qb: QB,
            scale: SCALE,
            columns_of_features: false,
            columns_of_outputs: false,
            by_layer: false,
            buckets: Vec::new(),
            padding: Padding::Zeros,
        }
    }
}

fn bullet() -> Layout {
    Layout { by_layer: true, padding: Padding::Bullet, ..Layout::default() }
}

fn bullet_columns() -> Layout {
    Layout { columns_of_outputs: true, ..bullet() }
}

fn bullet_raw() -> Layout {
    Layout { dtype: Dtype::F32, padding: Padding::None, ..bullet_columns() }
}

fn unpadded() -> Layout {
    Layout { padding: Padding::None, ..Layout::default() }
}

fn plain() -> Architecture {
    Architecture::plain(1)
}

fn clipped() -> Architecture {
    Architecture { activation: Activation::Crelu, ..plain() }
}

fn akimbo() -> Architecture {
    let king_buckets = "00110000 22220000 33330000 33330000 33330000 33330000 33330000 33330000";
    mirrored(king_buckets, 1)
}

fn mirrored(king_buckets: &str, output_buckets: usize) -> Architecture {
    let king_buckets = KingBuckets::parse(king_buckets).unwrap_or_else(|_| KingBuckets::none());
    Architecture { mirror: true, king_buckets, output_buckets, ..plain() }
}

/// Every named layout. Other engines with the same layouts are read by the same names.
pub static LAYOUTS: &[NamedLayout] = &[
    NamedLayout {
        name: "patzer",
        about: "the body of a .nnue file",
        layout: Layout::default,
        architecture: plain,
    },
    NamedLayout {
        name: "akimbo",
        about: "1.0: four mirrored king buckets",
        layout: Layout::default,
        architecture: akimbo,
    },
    NamedLayout {
        name: "akimbo-0.8",
        about: "QA 181",
        layout: || Layout { qa: 181, ..Layout::default() },
        architecture: plain,
    },
    NamedLayout {
        name: "akimbo-0.7",
        about: "eight output buckets, clipped ReLU",
        layout: Layout::default,
        architecture: || Architecture { output_buckets: 8, ..clipped() },
    },
    NamedLayout {
        name: "akimbo-0.6",
        about: "clipped ReLU, no padding",
        layout: unpadded,
        architecture: clipped,
    },
    NamedLayout {
        name: "viridithas",
        about: "9 and 10: its four files one after another",
        layout: unpadded,
        architecture: plain,
    },
    NamedLayout {
        name: "viridithas-8",
        about: "7 and 8: its four files one after another, clipped ReLU",
        layout: unpadded,
        architecture: clipped,
    },
    NamedLayout { name: "tcheran", about: "padded as by bullet", layout: bullet, architecture: plain },
    NamedLayout { name: "leorik", about: "3.1: one hidden layer", layout: bullet, architecture: plain },
    NamedLayout {
        name: "leorik-buckets",
        about: "from 3.2: five mirrored king buckets, eight output buckets",
        layout: bullet,
        architecture: || mirrored("five", 8),
    },
    NamedLayout {
        name: "bullet",
        about: "quantised.bin, later weights saved with .transpose() or of one output",
        layout: bullet,
        architecture: plain,
    },
    NamedLayout {
        name: "bullet-columns",
        about: "quantised.bin, later weights as bullet has them",
        layout: bullet_columns,
        architecture: plain,
    },
    NamedLayout {
        name: "bullet-raw",
        about: "raw.bin: 32-bit floats, without a factoriser",
        layout: bullet_raw,
        architecture: plain,
    },
];

impl NamedLayout {
    pub fn find(name: &str) -> Option<&'static NamedLayout> {
        LAYOUTS.iter().find(|layout| layout.name == name)
    }
}

/// What a number of a raw body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    FeatureWeight,
    HiddenBias,
    Psqt,
    Weight { last: bool },
    Bias { last: bool },
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::FeatureWeight => "feature weight",
            Kind::HiddenBias => "bias of the hidden layer",
            Kind::Psqt => "piece-square value",
            Kind::Weight { .. } => "weight of a later layer",
            Kind::Bias { .. } => "bias of a later layer",
        }
    }
}

/// Numbers of one kind: how many, and the place in the raw body of each.
struct Part {
    kind: Kind,
    count: usize,
    place: Box<dyn Fn(usize) -> usize>,
}

/// A network in another layout, with what the change of units has cost.
#[derive(Debug)]
pub struct Converted<T> {
    pub content: T,
    /// Numbers that were rounded because the units differ.
    pub rounded: usize,
}

impl Layout {
    /// The numbers of a file in order.
    fn parts(&self, shape: &Architecture) -> Vec<Part> {
        let (rows, hidden, buckets) = (shape.rows(), shape.hidden, shape.output_buckets);
        let columns = self.columns_of_features;
        let feature = move |i: usize| if columns { i % rows * hidden + i / rows } else { i };
        let bias = rows * hidden;
        let psqt = bias + hidden;
        let mut parts = vec![
            Part { kind: Kind::FeatureWeight, count: bias, place: Box::new(feature) },
            Part { kind: Kind::HiddenBias, count: hidden, place: Box::new(move |i| bias + i) },
        ];
        let values = shape.psqt_values();
        if values > 0 {
            let order = self.order(buckets);
            let place = move |i: usize| psqt + i / buckets * buckets + order[i % buckets];
            parts.push(Part { kind: Kind::Psqt, count: values, place: Box::new(place) });
        }
        let dense = shape.dense();
        let total = |of: fn(&[usize; 2]) -> usize| dense.iter().map(of).sum::<usize>();
        let (weights, biases) = (total(|[i, o]| i * o), total(|[_, o]| *o));
        let (first_weight, first_bias) = (psqt + values, psqt + values + buckets * weights);
        let (mut weight, mut bias) = (first_weight, first_bias);
        let (mut of_weights, mut of_biases) = (Vec::new(), Vec::new());
        for (layer, [inputs, outputs]) in dense.iter().copied().enumerate() {
            let last = layer + 1 == dense.len();
            let (columns, order) = (self.columns_of_outputs, self.order(buckets));
            let place = move |i: usize| {
                let (bucket, output, input) = if columns {
                    (i / outputs % buckets, i % outputs, i / (buckets * outputs))
                } else {
                    (i / (inputs * outputs), i / inputs % outputs, i % inputs)
                };
                weight + order[bucket] * weights + output * inputs + input
            };
            let count = buckets * inputs * outputs;
            of_weights.push(Part { kind: Kind::Weight { last }, count, place: Box::new(place) });
            let order = self.order(buckets);
            let place = move |i: usize| bias + order[i / outputs] * biases + i % outputs;
            let count = buckets * outputs;
            of_biases.push(Part { kind: Kind::Bias { last }, count, place: Box::new(place) });
            weight += inputs * outputs;
            bias += outputs;
        }
        if self.by_layer || dense.len() == 1 {
            parts.extend(
                of_weights.into_iter().zip(of_biases).flat_map(|(weights, biases)| [weights, biases]),
            );
        } else {
            // A body has all layers of one bucket together: its own order, except for the order of the buckets.
            for (kind, start, each) in [
                (Kind::Weight { last: false }, first_weight, weights),
                (Kind::Bias { last: false }, first_bias, biases),
            ] {
                let order = self.order(buckets);
                let place = move |i: usize| start + order[i / each] * each + i % each;
                parts.push(Part { kind, count: buckets * each, place: Box::new(place) });
            }
        }
        parts
    }

    fn order(&self, buckets: usize) -> Vec<usize> {
        if self.buckets.is_empty() { (0..buckets).collect() } else { self.buckets.clone() }
    }

    fn width(&self, kind: Kind) -> usize {
        match self.dtype {
            Dtype::F32 => 4,
            Dtype::I8 if matches!(kind, Kind::FeatureWeight | Kind::Weight { .. }) => 1,
            Dtype::I8 | Dtype::I16 => 2,
        }
    }

    /// A number's unit in a network divided by its unit in the file.
    fn factor(&self, kind: Kind) -> f64 {
        let float = self.dtype == Dtype::F32;
        let [qa, qb] = [self.qa, self.qb].map(|q| if float { 1.0 } else { f64::from(q) });
        let (a, b, scale) =
            (f64::from(QA) / qa, f64::from(QB) / qb, f64::from(self.scale) / f64::from(SCALE));
        match kind {
            Kind::FeatureWeight | Kind::HiddenBias => a,
            Kind::Psqt => a * scale,
            Kind::Weight { last } => b * if last { scale } else { 1.0 },
            Kind::Bias { last } => a * b * if last { scale } else { 1.0 },
        }
    }

    /// Bytes of a file without its padding.
    pub fn size(&self, shape: &Architecture) -> usize {
        self.parts(shape).iter().map(|part| part.count * self.width(part.kind)).sum()
    }

    fn padded(&self, size: usize) -> usize {
        if self.padding == Padding::None { size } else { size.next_multiple_of(64) }
    }

    fn is_size(&self, shape: &Architecture, bytes: usize) -> bool {
        let size = self.size(shape);
        bytes == size || bytes == size.next_multiple_of(64)
    }

    /// The hidden size of a file of an architecture that is otherwise known, by the number of its bytes.
    pub fn hidden(&self, shape: &Architecture, bytes: usize) -> Option<usize> {
        let of = |hidden| Architecture { hidden, ..shape.clone() };
        (1..=MAX_HIDDEN).find(|hidden| self.is_size(&of(*hidden), bytes))
    }

    fn check(&self, shape: &Architecture) -> Result<(), BodyError> {
        shape.check().map_err(|error| BodyError(error.to_string()))?;
        let mut sorted = self.order(shape.output_buckets);
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..shape.output_buckets) {
            let buckets = shape.output_buckets;
            return Err(BodyError(format!(
                "the order of {buckets} output buckets has to name each of them once"
            )));
        }
        let rescaled = self.scale != SCALE && self.dtype != Dtype::F32;
        if !self.by_layer && shape.dense().len() > 1 && (rescaled || self.columns_of_outputs) {
            let reason =
                "further layers in another scale or by columns need a layout by layers, such as `bullet`";
            return Err(BodyError(reason.into()));
        }
        Ok(())
    }

    /// Reads a network of a known architecture, with or without padding.
    pub fn read(
        &self,
        shape: &Architecture,
        bytes: &[u8],
        about: About,
    ) -> Result<Converted<Network>, BodyError> {
        self.check(shape)?;
        if !self.is_size(shape, bytes.len()) {
            let (size, found) = (self.size(shape), bytes.len());
            let reason = format!("{shape} takes {size} bytes in this layout, the file has {found}");
            return Err(BodyError(reason));
        }
        let (mut body, mut rounded, mut rest) = (vec![0i16; shape.parameters()], 0, bytes);
        for part in self.parts(shape) {
            let (width, factor) = (self.width(part.kind), self.factor(part.kind));
            let (numbers, after) = rest.split_at(part.count * width);
            for (i, bytes) in numbers.chunks_exact(width).enumerate() {
                let value = factor * number(bytes);
                let whole = value.round();
                if !(f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&whole) {
                    let kind = part.kind.name();
                    let reason = format!("{kind} {i} is {value:.1} in units of a network: beyond 16 bits");
                    return Err(BodyError(reason));
                }
                rounded += usize::from(whole != value);
                body[(part.place)(i)] = whole as i16;
            }
            rest = after;
        }
        let weights = Weights::read(shape, &mut body.into_iter());
        let network = Network::new(shape.clone(), &weights, about)
            .ok_or_else(|| BodyError("the lengths of its parts disagree".into()))?;
        Ok(Converted { content: network, rounded })
    }

    pub fn write(&self, network: &Network) -> Result<Converted<Vec<u8>>, BodyError> {
        let shape = network.architecture();
        self.check(shape)?;
        let body: Vec<i16> = network.weights().numbers().collect();
        let (mut bytes, mut rounded) = (Vec::with_capacity(self.size(shape) + 64), 0);
        for part in self.parts(shape) {
            let (width, factor) = (self.width(part.kind), self.factor(part.kind));
            let most = if width == 1 { f64::from(i8::MAX) } else { f64::from(i16::MAX) };
            for i in 0..part.count {
                let value = f64::from(body[(part.place)(i)]) / factor;
                if width == 4 {
                    bytes.extend((value as f32).to_le_bytes());
                    continue;
                }
                let whole = value.round();
                if !(-most - 1.0..=most).contains(&whole) {
                    let (kind, bits) = (part.kind.name(), 8 * width);
                    let reason =
                        format!("{kind} {i} would be {whole}: beyond {bits} bits; take smaller units");
                    return Err(BodyError(reason));
                }
                rounded += usize::from(whole != value);
                bytes.extend(&(whole as i16).to_le_bytes()[..width]);
            }
        }
        let size = self.padded(bytes.len());
        match self.padding {
            Padding::None => {}
            Padding::Zeros => bytes.resize(size, 0),
            Padding::Bullet => {
                let missing = size - bytes.len();
                bytes.extend(bullets(missing));
            }
        }
        Ok(Converted { content: bytes, rounded })
    }
}

/// Reads the raw weights of a network to start from, in a layout of bullet or patzer, whichever their size and padding
/// say; the file may have one king bucket or output bucket for all of `shape`. `None` if none fits, or two do that differ.
pub fn guess(shape: &Architecture, bytes: &[u8], about: &About) -> Option<Network> {
    let one_king = Architecture { king_buckets: KingBuckets::none(), ..shape.clone() };
    let one_output = |shape: &Architecture| Architecture { output_buckets: 1, ..shape.clone() };
    let shapes = [shape.clone(), one_output(shape), one_king.clone(), one_output(&one_king)];
    let read = |layout: &Layout| {
        let shape = shapes.iter().find(|shape| layout.is_size(shape, bytes.len()))?;
        // A body has further layers in another order than a file of bullet, which its padding alone tells.
        let padding = &bytes[layout.size(shape)..];
        let of_bullet = !padding.is_empty() && padding.iter().eq(bullets(padding.len()));
        let sure = shape.layers.is_empty() || layout.dtype == Dtype::F32 || of_bullet;
        let network = sure.then(|| layout.read(shape, bytes, about.clone()).ok())??;
        Some(network.content)
    };
    [bullet(), bullet_raw()].iter().find_map(read)
}

/// bullet's padding of a length.
fn bullets(length: usize) -> impl Iterator<Item = &'static u8> {
    b"bullet".iter().cycle().take(length)
}

/// A little-endian number of one, two or four bytes; the last is a float.
fn number(bytes: &[u8]) -> f64 {
    match *bytes {
        [a] => f64::from(a as i8),
        [a, b] => f64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::NAN,
    }
}
