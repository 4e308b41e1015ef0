//! Networks and the checkpoints of their training.

use std::sync::{Arc, OnceLock};

use patzer_chess::PackedBoard;
use patzer_eval::nnue::layout::{LAYOUTS, NamedLayout, guess};
use patzer_eval::nnue::{About, Activation, Architecture, Network, Nnue, file, network};
use patzer_eval::{Evaluation, Evaluator};
use patzer_io::error::Result;
use patzer_train::{Epoch, Settings, TrainItem, TrainingCallbacks, WIN};
use sha2::{Digest, Sha256};
use shakmaty::{Chess, Color};

/// Any body beyond this is refused before the target, so that an input of a few bytes cannot ask for the largest
/// network.
const LARGEST: usize = 1 << 16;

/// A network keeps its bytes and evaluates.
fn check(network: Network) {
    assert_eq!(Network::parse(&network.to_bytes()).expect("our own file"), network);
    let body = network.body();
    assert_eq!(body.len(), network::body_size(network.architecture()));
    let score = Nnue::new(Arc::new(network)).evaluate(&Chess::default(), 0);
    assert!(score.abs() < patzer_chess::score::MATE_IN_MAX);
}

/// A `.nnue` file. The header's checksum of the body is corrected, so that the body's reader is reached too.
pub fn network(bytes: &[u8]) {
    if let Ok(network) = Network::parse(bytes) {
        check(network);
    }
    let length = bytes.get(12..16).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let Some(start) = length.and_then(|length| length.checked_add(16)).filter(|start| *start < bytes.len())
    else {
        return;
    };
    let key = b"body_sha256 = \"";
    let Some(at) = bytes[..start].windows(key.len()).position(|window| window == key) else { return };
    let mut bytes = bytes.to_vec();
    let digest = file::hex(&Sha256::digest(&bytes[start..]));
    if let Some(place) = bytes[..start].get_mut(at + key.len()..at + key.len() + digest.len()) {
        place.copy_from_slice(digest.as_bytes());
    }
    if let Ok(Evaluation::Nnue(network)) = Evaluation::parse(&bytes) {
        check(Arc::unwrap_or_clone(network));
    }
}

/// An architecture by four bytes, if it has one and is no larger than [`LARGEST`].
fn architecture([hidden, buckets, bits, layer]: [u8; 4]) -> Option<Architecture> {
    let architecture = Architecture {
        hidden: usize::from(hidden),
        output_buckets: usize::from(buckets),
        mirror: bits & 1 != 0,
        psqt: bits & 2 != 0,
        activation: if bits & 4 != 0 { Activation::Screlu } else { Activation::Crelu },
        layers: if layer > 0 { vec![usize::from(layer)] } else { Vec::new() },
        ..Architecture::default()
    };
    (architecture.check().is_ok() && network::body_size(&architecture) <= LARGEST).then_some(architecture)
}

/// A raw body, of the plain architecture that its length says and of one that the first bytes say.
pub fn body(bytes: &[u8]) {
    if let Ok(network) = Network::from_body(bytes, About::default()) {
        check(network);
    }
    let Some((shape, body)) = bytes.split_first_chunk() else { return };
    let Some(architecture) = architecture(*shape) else { return };
    let mut body = body.to_vec();
    let _ = Network::of_body(architecture.clone(), &body, About::default()).map(check);
    body.resize(network::body_size(&architecture), 0x11);
    check(Network::of_body(architecture, &body, About::default()).expect("a body of the right size"));
}

/// A file of another program: its layout and the order of its output buckets by a byte, its architecture by four, and
/// its numbers; or a layout file. What is written in that layout without rounding reads the same; a guess is a network
/// that evaluates.
pub fn layout(bytes: &[u8]) {
    let _ = std::str::from_utf8(bytes).map(|text| NamedLayout::parse("fuzz", text));
    let Some((&[kind, ref shape @ ..], numbers)) = bytes.split_first_chunk::<5>() else { return };
    let Some(architecture) = architecture(*shape) else { return };
    let named = &LAYOUTS[usize::from(kind >> 1) % LAYOUTS.len()];
    let mut layout = named.layout.clone();
    if kind & 1 != 0 {
        layout.buckets = (0..architecture.output_buckets).rev().collect();
    }
    if let Some((read, _)) = guess(&architecture, numbers) {
        check(read.content);
    }
    let mut file = numbers.to_vec();
    file.resize(layout.size(&architecture), 0);
    let Ok(read) = layout.read(&architecture, &file, About::default()) else { return };
    check(read.content.clone());
    let Ok(written) = layout.write(&read.content) else { return };
    let again = layout.read(&architecture, &written.content, About::default()).expect("our own file");
    if written.rounded == 0 {
        assert_eq!(again.content, read.content);
    }
}

/// A training of two positions that resumes from a checkpoint, if there is one, and returns the last one.
struct Resumed(Option<Vec<u8>>, Vec<u8>);

impl TrainingCallbacks for Resumed {
    fn epoch(&mut self, _epoch: &Epoch) {}

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.0.take())
    }

    fn save_checkpoint(&mut self, state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        self.1 = state()?;
        Ok(())
    }
}

fn trained(checkpoint: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let settings = Settings { hidden: 1, epochs: 2, batch: 2, average: 0.0, ..Settings::default() };
    let board = PackedBoard::pack(&Chess::default());
    let item = |turn, result| TrainItem { board, turn, halfmoves: 0, score: Some(10), result, ply: 0 };
    let items = [item(Color::White, WIN), item(Color::Black, -WIN)];
    let mut resumed = Resumed(checkpoint, Vec::new());
    patzer_train::fit(&items, &[], &settings, &mut resumed)?;
    Ok(resumed.1)
}

/// Range of the vectors of a checkpoint: after five numbers and six an epoch, up to the device's name.
fn vectors(checkpoint: &[u8]) -> std::ops::Range<usize> {
    let number =
        |at: usize| u64::from_le_bytes(checkpoint[at..at + 8].try_into().expect("eight bytes")) as usize;
    let start = HEAD + 5 * 8 + number(HEAD + 4 * 8) * 6 * 8;
    let end = (0..number(start)).fold(start + 8, |at, _| at + 8 + 4 * number(at));
    start..end
}

/// Magic and hash of settings and positions.
const HEAD: usize = 8 + 64;

/// Numbers, vectors and device of a checkpoint with a right hash and checksum: a flag that says whether the real
/// vectors come in, the number of 8-byte numbers before them, and the bytes. Resuming from it is an error or a
/// training.
pub fn checkpoint(bytes: &[u8]) {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    let whole = WHOLE.get_or_init(|| trained(None).expect("a training"));
    let Some((&[real, numbers], bytes)) = bytes.split_first_chunk() else { return };
    let (numbers, rest) = bytes.split_at((8 * usize::from(numbers)).min(bytes.len()));
    let vectors = if real & 1 == 0 { &[] } else { &whole[vectors(whole)] };
    let mut forged = [&whole[..HEAD], numbers, vectors, rest].concat();
    let digest = Sha256::digest(&forged);
    forged.extend(digest);
    let _ = trained(Some(forged));
}
