use super::*;
use crate::feature_table::{F32Table, I16Table};
use crate::tests::{items, shapes};
use patzer_eval::nnue::Architecture;

fn tables<'a>(model: &'a Model, shorts: &'a mut I16Table) -> [FeatureTable<'a>; 2] {
    let floats = F32Table::of(&model.parameters, &model.layout);
    shorts.fill(floats, &model.layout);
    [FeatureTable::F32Table(floats), FeatureTable::I16Table(shorts)]
}

#[test]
#[cfg(target_arch = "x86_64")]
fn wide_vectors_change_no_bit() {
    if !is_x86_feature_detected!("avx2") {
        return;
    }
    for architecture in shapes() {
        let model = Model::random(&architecture, false, 3);
        let loss = Loss { wdl_head: architecture.wdl_head, ..Loss::squared(1.3, 0.01) };
        let mut micro = MicroBatch::new(&model);
        let items = items(MICRO_BATCH - 1, 4);
        let mut shorts = I16Table::default();
        for table in tables(&model, &mut shorts) {
            let mut portable = vec![0.0; model.parameters.len()];
            micro.load(&items, None, |item| item.expected());
            micro.load_draws(items.iter().map(|_| 0.0));
            let a = micro.run_portable(&model, table, Task::Gradient(loss, &mut portable));
            assert!(portable.iter().any(|g| *g != 0.0));
            for avx512 in [false, is_x86_feature_detected!("avx512f")] {
                let mut wide = vec![0.0; model.parameters.len()];
                micro.load(&items, None, |item| item.expected());
                let task = Task::Gradient(loss, &mut wide);
                let b = match avx512 {
                    // SAFETY: the processor has AVX2.
                    false => unsafe { micro.run_avx2(&model, table, task) },
                    // SAFETY: the processor has AVX-512.
                    true => unsafe { micro.run_avx512(&model, table, task) },
                };
                assert_eq!(a.to_bits(), b.to_bits(), "{architecture}");
                let same = portable.iter().zip(&wide).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{architecture}");
            }
        }
    }
}

#[test]
fn a_weight_that_is_no_number_shows_in_the_loss() {
    let mut model = Model::random(&Architecture::plain(16), false, 1);
    let start = model.layout.bias;
    model.parameters[start] = f32::NAN;
    let mut micro = MicroBatch::new(&model);
    micro.load(&items(4, 1), None, |item| item.expected());
    let mut shorts = I16Table::default();
    for table in tables(&model, &mut shorts) {
        assert!(micro.run(&model, table, Task::Loss(Loss::squared(1.0, 1.0))).is_nan());
    }
}
