//! The shapes of tools/gpu.sh in bullet, as an example program of a checkout of it:
//! `rates SHAPE FILE SUPERBATCHES BATCHES THREADS`, where FILE has bullet's format.

use bullet_lib::game::inputs::{Chess768, ChessBucketsMirrored};
use bullet_lib::game::outputs::MaterialCount;
use bullet_lib::nn::optimiser::AdamW;
use bullet_lib::nn::{InitSettings, Shape};
use bullet_lib::trainer::schedule::{TrainingSchedule, TrainingSteps, lr, wdl};
use bullet_lib::trainer::settings::LocalSettings;
use bullet_lib::value::{ValueTrainerBuilder, loader::DirectSequentialDataLoader};

/// As many king buckets as patzer's `five` has.
#[rustfmt::skip]
const FIVE: [usize; 32] = [
    0, 0, 1, 1,
    2, 2, 2, 2,
    3, 3, 3, 3,
    3, 3, 3, 3,
    4, 4, 4, 4,
    4, 4, 4, 4,
    4, 4, 4, 4,
    4, 4, 4, 4,
];

/// A builder with what all shapes share.
macro_rules! builder {
    ($inputs:expr) => {
        ValueTrainerBuilder::default()
            .dual_perspective()
            .optimiser(AdamW)
            .inputs($inputs)
            .save_format(&[])
            .loss_fn(|output, target| output.sigmoid().squared_error(target))
    };
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shape, file, superbatches, batches, threads] = &arguments[..] else {
        panic!("SHAPE FILE SUPERBATCHES BATCHES THREADS");
    };
    let superbatches = superbatches.parse().expect("a number of superbatches");
    let schedule = TrainingSchedule {
        net_id: shape.clone(),
        eval_scale: 400.0,
        steps: TrainingSteps {
            batch_size: 16_384,
            batches_per_superbatch: batches.parse().expect("a number of batches"),
            start_superbatch: 1,
            end_superbatch: superbatches,
        },
        wdl_scheduler: wdl::ConstantWDL { value: 0.2 },
        lr_scheduler: lr::CosineDecayLR {
            initial_lr: 0.001,
            final_lr: 0.00001,
            final_superbatch: superbatches,
        },
        save_rate: superbatches,
    };
    let settings = LocalSettings {
        threads: threads.parse().expect("a number of threads"),
        test_set: None,
        output_directory: "checkpoints",
        batch_queue_size: 64,
    };
    let loader = DirectSequentialDataLoader::new(&[file]);
    match &shape[..] {
        "256" | "1024" => {
            let hidden = shape.parse().expect("a number");
            let mut trainer = builder!(Chess768).build(|b, stm, ntm| {
                let (l0, l1) = (b.new_affine("l0", 768, hidden), b.new_affine("l1", 2 * hidden, 1));
                l1.forward(l0.forward(stm).screlu().concat(l0.forward(ntm).screlu()))
            });
            trainer.run(&schedule, &settings, &loader);
        }
        "buckets" => {
            let mut trainer =
                builder!(Chess768).output_buckets(MaterialCount::<8>).build(|b, stm, ntm, bucket| {
                    let (l0, l1) = (b.new_affine("l0", 768, 1024), b.new_affine("l1", 2048, 8));
                    l1.forward(l0.forward(stm).screlu().concat(l0.forward(ntm).screlu())).select(bucket)
                });
            trainer.run(&schedule, &settings, &loader);
        }
        "king" => {
            let inputs = ChessBucketsMirrored::new(FIVE);
            let mut trainer =
                builder!(inputs).output_buckets(MaterialCount::<8>).build(|b, stm, ntm, bucket| {
                    let factoriser = b.new_weights("l0f", Shape::new(1024, 768), InitSettings::Zeroed);
                    let (mut l0, l1) = (b.new_affine("l0", 768 * 5, 1024), b.new_affine("l1", 2048, 8));
                    l0.weights = l0.weights + factoriser.repeat(5);
                    l1.forward(l0.forward(stm).screlu().concat(l0.forward(ntm).screlu())).select(bucket)
                });
            trainer.run(&schedule, &settings, &loader);
        }
        "layers" => {
            let mut trainer = builder!(Chess768).build(|b, stm, ntm| {
                let l0 = b.new_affine("l0", 768, 1024);
                let (l1, l2, l3) =
                    (b.new_affine("l1", 1024, 16), b.new_affine("l2", 16, 32), b.new_affine("l3", 32, 1));
                let half = |from, to| move |input| l0.slice(from, to).forward(input).crelu();
                let (first, second) = (half(0, 512), half(512, 1024));
                let pairs = (first(stm) * second(stm)).concat(first(ntm) * second(ntm));
                l3.forward(l2.forward(l1.forward(pairs).screlu()).screlu())
            });
            trainer.run(&schedule, &settings, &loader);
        }
        _ => panic!("no shape {shape}: 256, 1024, buckets, king, layers"),
    }
}
