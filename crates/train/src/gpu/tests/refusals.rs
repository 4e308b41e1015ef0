//! Networks and settings that a GPU refuses by name.

use super::*;
use patzer_eval::nnue::Activation;

#[test]
fn rounded_sums_in_another_order_are_refused_by_the_key() {
    let features = Features::parse("all+mc+clock").unwrap();
    let settings = Settings { features, quantisation_aware: 0.1, ..settings(Forward::I16) };
    let model = Model::zero(&settings.architecture(), false);
    let error = Gpu::new(Emulated::with(|_| ()), &model, &settings, 300).err().expect("another order");
    assert!(error.to_string().starts_with("quantisation_aware is not possible on a GPU"), "{error}");
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn what_does_not_fit_is_an_error_that_says_what_would() {
    let plan = |hidden| {
        let settings = Settings { hidden, ..settings(Forward::I16) };
        let model = Model::zero(&settings.architecture(), false);
        (MemoryPlan::new(&model.layout, &settings, 300).bytes() as u64, settings, model)
    };
    let ((free, ..), (_, settings, model)) = (plan(64), plan(512));
    let error = Gpu::new(Emulated::with(|device| device.free = free), &model, &settings, 300)
        .err()
        .expect("it is too large");
    assert!(error.to_string().contains("; hidden = 64 would fit"), "{error}");
    assert_eq!(error.exit_code(), 1);
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn an_activation_that_the_kernels_do_not_know_shows_in_the_loss() {
    let settings = settings(Forward::F32);
    let model = Model::random(&Architecture::plain(16), false, 1);
    for open in devices() {
        let mut gpu = Gpu::new(open(), &model, &settings, 8).unwrap();
        let number = &mut gpu.work.net.0[9];
        assert_eq!(*number, Activation::Screlu as u32);
        *number = Activation::ALL.len() as u32;
        assert!(gpu.mean_loss(settings.loss(), TARGET, &items(4, 1)).unwrap().is_nan());
    }
}
