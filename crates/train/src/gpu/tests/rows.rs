//! Rows, buckets and lists of every shape.

use super::*;
use crate::extract::Extractor;
use crate::gpu::memory::START;
use crate::gpu::records::{self, RECORD};
use patzer_eval::nnue::Activation;

/// Blocks whose rows all king buckets share: alone, and with others.
pub(crate) fn unbucketed() -> Vec<Architecture> {
    let plain = |text| Architecture { features: Features::parse(text).unwrap(), ..Architecture::plain(20) };
    let five = || KingBuckets::parse("five").unwrap();
    vec![
        plain("clock"),
        Architecture { mirror: true, king_buckets: five(), psqt: true, ..plain("pp") },
        Architecture { hidden: 16, perspectives: 1, mirror: true, ..plain("threats") },
        Architecture { king_buckets: five(), layers: vec![5], output_buckets: 2, ..plain("all+clock") },
        Architecture { activation: Activation::Pairwise, hidden: 40, ..plain("all+pp") },
        Architecture { king_buckets: five(), hidden: 16, ..plain("all+threats") },
        Architecture { mirror: true, king_buckets: five(), psqt: true, ..plain("h+mc+pp+clock") },
        Architecture { mirror: true, hidden: 16, ..plain("all+v+mb+pp+threats+clock") },
    ]
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes.as_chunks::<4>().0[at])
}

fn read(gpu: &mut Gpu, at: Address, bytes: usize) -> Vec<u8> {
    let mut found = vec![0; bytes];
    gpu.work.driver.read(at, &mut found).unwrap();
    found
}

/// Extracts positions; the rows of each perspective.
fn rows_of(gpu: &mut Gpu, positions: &[TrainItem], target: Target) -> Vec<Vec<u16>> {
    records::fill(gpu.work.driver.slot(0).unwrap(), positions.len(), |i| &positions[i]);
    let at = gpu.work.driver.send(0, positions.len() * RECORD).unwrap();
    gpu.work.extract(at, positions.len(), target, true).unwrap();
    let (stride, memory) = (gpu.work.plan.stride, gpu.work.memory.clone());
    let perspectives = gpu.work.plan.layout.architecture.perspectives * positions.len();
    let rows = read(gpu, memory.rows, 2 * stride * perspectives);
    let counts = read(gpu, memory.counts, 4 * perspectives);
    let rows_of = |view: usize| {
        let own = &rows.as_chunks::<2>().0[view * stride..][..number(&counts, view) as usize];
        own.iter().map(|row| u16::from_le_bytes(*row)).collect()
    };
    (0..perspectives).map(rows_of).collect()
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_board_with_more_features_than_fit_keeps_the_first_ones() {
    let architecture =
        Architecture { features: Features::parse("all+pp").unwrap(), ..Architecture::plain(8) };
    let model = Model::zero(&architecture, false);
    let mut positions = items(3, 9);
    // White pawns on ranks 2 to 5: 160 pairs.
    positions[1].board.0 = [0; 24];
    positions[1].board.0[1..5].fill(0xff);
    let mut expected = (Vec::new(), Vec::new());
    let mut extractor = Extractor::new(&architecture);
    positions.iter().for_each(|item| extractor.rows(item, &mut expected.0, &mut expected.1));
    for open in devices() {
        let mut gpu = Gpu::new(open(), &model, &settings(Forward::F32), 3).unwrap();
        let mut start = 0;
        for (found, end) in rows_of(&mut gpu, &positions, TARGET).iter().zip(&expected.1) {
            let own = &expected.0[start..*end as usize];
            assert_eq!(found[..], own[..own.len().min(gpu.work.plan.stride)]);
            start = *end as usize;
        }
        assert!(start > 2 * (192 + 128), "two perspectives have more than fits");
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn rows_and_buckets_are_those_of_the_cpu() {
    let halfka = KingBuckets::parse("halfka").unwrap();
    let whole = Architecture { king_buckets: halfka, mirror: true, ..Architecture::plain(8) };
    for open in devices() {
        for architecture in shapes().into_iter().chain([whole.clone()]) {
            let model = Model::zero(&architecture, false);
            // More than a window holds.
            let mut positions = items(300, 9);
            // Damaged boards: a code of no piece, and no pieces at all.
            positions[3].board.0[8] = 0xff;
            positions[5].board.0 = [0; 24];
            let mut gpu = Gpu::new(open(), &model, &settings(Forward::F32), positions.len()).unwrap();
            let target = Target { wdl: 0.3, k: 1.1, offset: 0.0 };
            let rows = rows_of(&mut gpu, &positions, target);
            let (perspectives, memory) = (architecture.perspectives, gpu.work.memory.clone());
            let buckets = read(&mut gpu, memory.buckets, positions.len());
            let targets = read(&mut gpu, memory.targets, 4 * positions.len());
            let (all_views, rows_and_two) = (perspectives * positions.len(), model.layout.rows + 2);
            let (windows, (_, cut)) = (gpu.work.plan.windows(all_views), gpu.work.plan.cut());
            let starts = read(&mut gpu, memory.starts, START * rows_and_two * windows);
            let members = read(&mut gpu, memory.members, 4 * cut.members as usize * windows);
            let mut extractor = Extractor::new(&architecture);
            let in_order = kernel_args::lists_in_order(&architecture);
            let mut who: Vec<Vec<u32>> = vec![Vec::new(); model.layout.rows];
            for (i, item) in positions.iter().enumerate() {
                let (mut expected, mut ends) = (Vec::new(), Vec::new());
                extractor.rows(item, &mut expected, &mut ends);
                let mut start = 0;
                for (view, end) in ends.into_iter().enumerate() {
                    let view = i * perspectives + view;
                    let mut found = rows[view].clone();
                    if !in_order {
                        found.sort_unstable();
                    }
                    assert_eq!(found, expected[start..end as usize], "{architecture}");
                    found.iter().for_each(|row| who[usize::from(*row)].push(view as u32));
                    start = end as usize;
                }
                assert_eq!(usize::from(buckets[i]), extractor.bucket(&item.board), "{architecture}");
                let found = f32::from_bits(number(&targets, i));
                assert!((found - target.expected(item)).abs() < 1e-6, "{found}");
            }
            // The biases are a row of every perspective.
            who.push((0..all_views as u32).collect());
            for window in 0..windows {
                let mut start = window * cut.members as usize;
                for (row, everybody) in who.iter().enumerate() {
                    let at = START / 4 * (window * rows_and_two + row);
                    assert_eq!(number(&starts, at) as usize, start);
                    let (words, before) = (32 * cut.words, 32 * cut.words * window as u32);
                    let within = |view: &u32| (*view / words == window as u32).then(|| view - before);
                    let expected: Vec<u32> = everybody.iter().filter_map(within).collect();
                    let found: Vec<u32> =
                        (start..start + expected.len()).map(|at| number(&members, at)).collect();
                    assert_eq!(found, expected, "{architecture}, window {window}, row {row}");
                    assert_eq!(number(&starts, at + 3) as usize, expected.len());
                    start += expected.len().next_multiple_of(4);
                }
            }
        }
    }
}
