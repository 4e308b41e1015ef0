//! Reads a file as the trainer does and lists the features of each batch: what rate.py compares the package with.
//!
//! `loader FILE order|shuffled PASSES` prints the number of positions and of features. `order` takes batches as they
//! are in the file, `shuffled` by the trainer's stream, with its thread and its buffers.

use std::path::Path;

use patzer_data::AnyReader;
use patzer_eval::nnue::Architecture;
use patzer_formats::native::projection::Projection;
use patzer_io::error::{Error, Result};
use patzer_train::{DataLoader, Extractor, StreamLoader, Superbatch, TrainItem, WIN};
use rayon::prelude::*;

const BATCH: usize = 16_384;

/// Positions that a thread works on at once.
const CHUNK: usize = 1 << 10;

struct Lists {
    extractor: Extractor,
    chunks: Vec<(Vec<u16>, Vec<u32>)>,
    positions: usize,
    features: usize,
}

impl Lists {
    fn batch(&mut self, items: &[TrainItem], order: &[u32]) {
        let parts = self.chunks.par_iter_mut().zip(order.par_chunks(CHUNK));
        let list = |extractor: &mut Extractor, ((rows, ends), part): (&mut (Vec<u16>, Vec<u32>), &[u32])| {
            rows.clear();
            ends.clear();
            part.iter().for_each(|at| extractor.rows(&items[*at as usize], rows, ends));
            rows.len()
        };
        self.features += parts.map_init(|| self.extractor.clone(), list).sum::<usize>();
        self.positions += order.len();
    }
}

fn each_item(path: &Path, mut take: impl FnMut(TrainItem) -> bool) -> Result<()> {
    let (mut reader, mut records) = (AnyReader::open(path, None)?, Vec::new());
    reader.project(Projection::TRAINING);
    while reader.next_batch(&mut records)? {
        for record in &records {
            let item = TrainItem {
                board: record.board,
                turn: record.turn,
                halfmoves: record.halfmove,
                score: record.score,
                result: i16::from(record.result) * WIN,
                ply: record.ply,
            };
            if !take(item) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, how, passes] = &arguments[..] else {
        return Err(Error::usage("loader FILE order|shuffled PASSES"));
    };
    let (path, passes) = (Path::new(path), passes.parse().map_err(|_| Error::usage("PASSES: a number"))?);
    let extractor = Extractor::new(&Architecture::plain(8));
    let mut lists =
        Lists { extractor, chunks: vec![Default::default(); BATCH / CHUNK], positions: 0, features: 0 };
    for _ in 0..passes {
        match how.as_str() {
            "order" => {
                let (order, mut items): (Vec<u32>, _) =
                    ((0..BATCH as u32).collect(), Vec::with_capacity(BATCH));
                each_item(path, |item| {
                    items.push(item);
                    if items.len() == BATCH {
                        lists.batch(&items, &order);
                        items.clear();
                    }
                    true
                })?;
                lists.batch(&items, &order[..items.len()]);
            }
            "shuffled" => shuffled(path, &mut lists)?,
            _ => return Err(Error::usage("order or shuffled")),
        }
    }
    println!("{} {}", lists.positions, lists.features);
    Ok(())
}

fn shuffled(path: &Path, lists: &mut Lists) -> Result<()> {
    let rows =
        AnyReader::open(path, None)?.rows().ok_or_else(|| Error::usage("the file has no count of rows"))?;
    let cut = Superbatch::new(rows as usize, 4_000_000, BATCH);
    let (mut feeder, mut stream) = StreamLoader::new(cut, 1, String::new(), Vec::new());
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || each_item(path, |item| feeder.push(item)));
        let taken = stream.epoch(1, &mut |items, order| {
            lists.batch(items, order);
            Ok(true)
        });
        drop(stream);
        reader.join().map_err(|_| Error::internal("the reader failed"))?.and(taken)
    })
}
