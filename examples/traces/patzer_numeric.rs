//! Writes traces without counting anything: it moves each weight up and down and takes the difference of the evaluation.
//! Needs `patzer_trace.rs` beside it, and no crate. No copyright is claimed for this file: copy it into your engine.
//!
//! ```text
//! pub static TEMPO: Movable<i16> = Movable::new(15);           in place of a const: `*TEMPO`
//! pub static KNIGHT: Movable<[Score; 9]> = Movable::new(...);  S(mg, eg) in one i32: `KNIGHT[n]`
//!
//! let weights = [Weight::ints("TEMPO", "1", TEMPO.at()), Weight::packed("KNIGHT", "9", KNIGHT.at())];
//! let position = |fen: &str| Board::from_fen(fen);
//! let value = |board: &mut Board| f64::from(evaluate_for_white(board)); // without caches
//! unsafe { numeric(stdin().lock(), stdout().lock(), Some("terms.toml"), &weights, position, value) }.unwrap();
//! ```
//!
//! Shapes are written as in the file of terms: a length, `[rows, columns]`, `[planes, rows, columns]`, `board`. What the
//! engine derives from its weights when it starts, `value` derives again. Every line has the phase 0.5 of 1, in which
//! both halves of a pair count twice.

use std::cell::UnsafeCell;
use std::fmt::Write as _;
use std::io::{BufRead, Write};

use super::patzer_trace::{Position, Trace};

/// A weight that one thread moves while no other runs; read like the value that it holds.
pub struct Movable<T>(UnsafeCell<T>);

// SAFETY: only `numeric` writes, whose caller promises that no other thread reads meanwhile.
unsafe impl<T: Sync> Sync for Movable<T> {}

impl<T> Movable<T> {
    pub const fn new(value: T) -> Movable<T> {
        Movable(UnsafeCell::new(value))
    }

    pub const fn at(&self) -> *mut T {
        self.0.get()
    }
}

impl<T> std::ops::Deref for Movable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: no reference lives while `numeric` writes.
        unsafe { &*self.0.get() }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Ints,
    Floats,
    Packed { midgame_is_high: bool },
    Pairs,
}

/// Weights of one name.
#[derive(Clone, Copy)]
pub struct Weight {
    name: &'static str,
    shape: &'static str,
    form: Form,
    at: *mut u8,
    size: usize,
}

impl Weight {
    /// Of `i8`, `i16`, `i32` or `i64`.
    pub const fn ints<T>(name: &'static str, shape: &'static str, at: *mut T) -> Weight {
        Weight::new(name, shape, Form::Ints, at)
    }

    /// Of `f32` or `f64`.
    pub const fn floats<T>(name: &'static str, shape: &'static str, at: *mut T) -> Weight {
        Weight::new(name, shape, Form::Floats, at)
    }

    /// Of `mg + (eg << 16)` in an `i32`, or by 32 bits in an `i64`.
    pub const fn packed<T>(name: &'static str, shape: &'static str, at: *mut T) -> Weight {
        Weight::new(name, shape, Form::Packed { midgame_is_high: false }, at)
    }

    /// Of `(mg << 16) + eg`.
    pub const fn packed_high<T>(name: &'static str, shape: &'static str, at: *mut T) -> Weight {
        Weight::new(name, shape, Form::Packed { midgame_is_high: true }, at)
    }

    /// Of `[mg, eg]`, or of a struct with `repr(C)` of both.
    pub const fn pairs<T>(name: &'static str, shape: &'static str, at: *mut T) -> Weight {
        Weight::new(name, shape, Form::Pairs, at)
    }

    const fn new<T>(name: &'static str, shape: &'static str, form: Form, at: *mut T) -> Weight {
        Weight { name, shape, form, at: at.cast(), size: size_of::<T>() }
    }

    fn entries(&self) -> usize {
        let lengths = self.shape.split(|c: char| !c.is_ascii_digit()).filter(|length| !length.is_empty());
        if self.shape == "board" { 64 } else { lengths.map(|length| length.parse().unwrap_or(0)).product() }
    }

    /// All midgame numbers before the endgame numbers.
    fn numbers(&self) -> Result<Vec<Number>, String> {
        let (entries, packed) = (self.entries(), matches!(self.form, Form::Packed { .. }));
        let halves = if packed || self.form == Form::Pairs { 2 } else { 1 };
        let beside = if self.form == Form::Pairs { 2 } else { 1 };
        let bytes = self.size / (entries * beside).max(1);
        let least = if packed || self.form == Form::Floats { 4 } else { 1 };
        if entries * beside * bytes != self.size || !matches!(bytes, 1 | 2 | 4 | 8) || bytes < least {
            return Err(format!("{} has another size than its shape {}", self.name, self.shape));
        }
        let number = |half: usize, entry: usize| {
            let offset = (entry * beside + if beside == 2 { half } else { 0 }) * bytes;
            let high =
                matches!(self.form, Form::Packed { midgame_is_high } if midgame_is_high == (half == 0));
            let bits = if packed { bytes * 4 } else { bytes * 8 };
            let top =
                if self.form == Form::Floats || bits > 32 { 1e9 } else { ((1u64 << (bits - 1)) - 1) as f64 };
            // `numeric` reads and writes there, within the weight.
            let at = self.at.wrapping_add(offset);
            Number {
                at,
                bytes,
                form: self.form,
                high,
                top,
                start: 0.0,
                factor: halves as f64,
                counted: 0,
                bent: 0,
            }
        };
        Ok((0..halves).flat_map(|half| (0..entries).map(move |entry| number(half, entry))).collect())
    }

    /// The term of the numbers of this weight, or of one half of them.
    fn term(&self, half: Option<&str>, numbers: &[Number], out: &mut String) {
        let values: Vec<String> = numbers.iter().map(|number| number.start.to_string()).collect();
        let group = half.map(|half| format!("group = \"{half}\"\n")).unwrap_or_default();
        let shape = if self.shape == "board" { "\"board\"" } else { self.shape };
        let (name, kind) = (self.name, half.unwrap_or("single"));
        let plain = name.replace(|c: char| !(c.is_alphanumeric() || c == '_'), "_");
        let symbol =
            if plain == name { String::new() } else { format!("output = {{ symbol = \"{name}\" }}\n") };
        let _ = write!(
            out,
            "\n[[term]]\nname = \"{plain}\"\n{symbol}{group}kind = \"{kind}\"\nshape = {shape}\n"
        );
        let _ = writeln!(out, "initial = [{}]", values.join(", "));
    }
}

/// One number: a weight, or one half of it.
struct Number {
    at: *mut u8,
    bytes: usize,
    form: Form,
    /// In the high half of a packed number.
    high: bool,
    top: f64,
    start: f64,
    /// Of its coefficient in a line.
    factor: f64,
    counted: u64,
    bent: u64,
}

/// The largest change of a weight.
const STEP: f64 = 256.0;

impl Number {
    /// # Safety
    /// The weight is there, and nobody else refers to it.
    unsafe fn whole(&self) -> i64 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes {
                1 => self.at.cast::<i8>().read().into(),
                2 => self.at.cast::<i16>().read().into(),
                4 => self.at.cast::<i32>().read().into(),
                _ => self.at.cast::<i64>().read(),
            }
        }
    }

    /// # Safety
    /// As of `whole`.
    unsafe fn get(&self) -> f64 {
        let bits = self.bytes * 4;
        // SAFETY: the caller's promise.
        unsafe {
            match (self.form, self.bytes) {
                (Form::Floats, 4) => self.at.cast::<f32>().read().into(),
                (Form::Floats, _) => self.at.cast::<f64>().read(),
                (Form::Packed { .. }, _) => {
                    let whole = self.whole();
                    let low = (whole << (64 - bits)) >> (64 - bits);
                    (if self.high { (whole + (1 << (bits - 1))) >> bits } else { low }) as f64
                }
                _ => self.whole() as f64,
            }
        }
    }

    /// # Safety
    /// As of `whole`.
    unsafe fn add(&self, by: f64) {
        // SAFETY: the caller's promise.
        unsafe {
            match (self.form, self.bytes) {
                (Form::Floats, 4) => *self.at.cast::<f32>() += by as f32,
                (Form::Floats, _) => *self.at.cast::<f64>() += by,
                (_, bytes) => {
                    let whole =
                        self.whole().wrapping_add((by as i64) << if self.high { bytes * 4 } else { 0 });
                    match bytes {
                        1 => self.at.cast::<i8>().write(whole as i8),
                        2 => self.at.cast::<i16>().write(whole as i16),
                        4 => self.at.cast::<i32>().write(whole as i32),
                        _ => self.at.cast::<i64>().write(whole),
                    }
                }
            }
        }
    }

    /// Change of the evaluation for each point of the number. Where it does not follow a straight line, smaller steps.
    ///
    /// # Safety
    /// As of `whole`.
    unsafe fn slope(&mut self, base: f64, mut value: impl FnMut() -> f64) -> f64 {
        let (mut step, mut slope, mut before) = (STEP, 0.0, 0.0);
        while step >= 4.0 {
            let [up, down] =
                [self.top - self.start, self.start + self.top].map(|room: f64| step.min(room.floor()));
            let mut after = |by: f64| {
                // SAFETY: the caller's promise.
                unsafe { self.add(by) };
                value()
            };
            let (above, below) = (after(up), after(-up - down));
            // SAFETY: the caller's promise.
            unsafe { self.add(down) };
            before = std::mem::replace(&mut slope, (above - below) / (up + down));
            // Each value is rounded to less than a centipawn, so up to here both sides may disagree.
            if ((above - base) * down - (base - below) * up).abs() <= 3.0 * up.max(down) {
                return slope;
            }
            if step < STEP && (slope - before).abs() <= 3.0 / (2.0 * step) {
                return before;
            }
            step /= 4.0;
        }
        self.bent += 1;
        before
    }
}

/// Reads lines of positions and writes their traces, and the file of terms if one is given. `position` makes a position
/// of a FEN, `value` gives its evaluation in centipawns from White's side, without any cache.
///
/// # Errors
/// A line without a position or a result, with its number; a weight whose size does not fit its shape; a file of terms
/// that exists; streams that fail.
///
/// # Safety
/// The weights are there, and no other thread and no reference reads them meanwhile.
pub unsafe fn numeric<P>(
    input: impl BufRead,
    mut output: impl Write,
    terms: Option<&str>,
    weights: &[Weight],
    position: impl Fn(&str) -> P,
    mut value: impl FnMut(&mut P) -> f64,
) -> Result<(), String> {
    let mut numbers: Vec<Vec<Number>> = weights.iter().map(Weight::numbers).collect::<Result<_, _>>()?;
    let mut text =
        "# Made by patzer_numeric.rs for traces whose phase is 0.5 in every line.\nformat = 1\n".to_string();
    for (weight, numbers) in weights.iter().zip(&mut numbers) {
        // SAFETY: the caller's promise.
        numbers.iter_mut().for_each(|number| number.start = unsafe { number.get() });
        match numbers[0].factor as usize {
            2 => {
                let (midgame, endgame) = numbers.split_at(numbers.len() / 2);
                weight.term(Some("midgame"), midgame, &mut text);
                weight.term(Some("endgame"), endgame, &mut text);
            }
            _ => weight.term(None, numbers, &mut text),
        }
    }
    if let Some(terms) = terms {
        let file = std::fs::File::create_new(terms).and_then(|mut file| file.write_all(text.as_bytes()));
        file.map_err(|error| format!("{terms}: {error}"))?;
    }
    let (mut positions, mut outside) = (0, 0.0);
    for (line, text) in input.lines().enumerate() {
        let text = text.map_err(|error| format!("line {}: {error}", line + 1))?;
        let Some(read) = Position::read(&text).map_err(|reason| format!("line {}: {reason}", line + 1))?
        else {
            continue;
        };
        let mut position = position(&read.fen);
        let base = value(&mut position);
        let (mut rest, mut trace) = (base, Trace::default());
        for (index, number) in numbers.iter_mut().flatten().enumerate() {
            // SAFETY: the caller's promise.
            let slope = unsafe { number.slope(base, || value(&mut position)) };
            if slope != 0.0 {
                number.counted += 1;
                trace.0.insert(index, [(slope * number.factor) as f32, 0.0]);
                rest -= slope * number.start;
            }
        }
        positions += 1;
        outside += f64::abs(rest);
        let facts = format!("constant={} eval={base}", rest as f32);
        writeln!(output, "{}", trace.line(&read, 0.5, &facts, |_| false))
            .map_err(|error| error.to_string())?;
    }
    output.flush().map_err(|error| error.to_string())?;
    let mean = outside / f64::max(f64::from(positions), 1.0);
    eprintln!(
        "{positions} positions; beside the weights the evaluation has {mean:.1} centipawns in the mean"
    );
    for (weight, numbers) in weights.iter().zip(&numbers) {
        let counted: u64 = numbers.iter().map(|number| number.counted).sum();
        let bent: u64 = numbers.iter().map(|number| number.bent).sum();
        match counted {
            0 => eprintln!("  {} never counts", weight.name),
            _ if bent * 100 > counted => {
                eprintln!("  {} bends in {} % of its positions", weight.name, bent * 100 / counted);
            }
            _ => {}
        }
    }
    Ok(())
}
