//! Tests of what keeps a tuning safe: the prior by evidence, support, scale, bounds, warnings and standard errors.

use super::*;
use crate::tune::runs::{RunSettings, fit_seeds};
use crate::tune::traces::SplitTraces;
use patzer_io::error::{Error, Hint};
use patzer_stats::Cholesky;

fn by_evidence() -> Settings {
    Settings { k: Some(1.5), evidence: true, ..Settings::default() }
}

/// Games of `length` positions that share their result, drawn from known values.
fn games(truth: &[f64], count: usize, length: usize, seed: u64) -> Vec<Item> {
    let mut items = drawn(&LINEAR, truth, count * length, seed);
    for (game, positions) in items.chunks_mut(length).enumerate() {
        let target = positions[0].0.target;
        positions.iter_mut().for_each(|(info, _)| (info.target, info.game) = (target, game as u32));
    }
    items
}

fn split(items: &[Item], model: &Model, games: usize) -> SplitTraces {
    let mut space = Space::new(model);
    let mut train = collector(items, model, &space, 4096);
    train.games = games;
    traces::arrange(model, &mut space, &mut train, &mut Traces::default());
    SplitTraces { space, train, validation: Traces::default() }
}

fn fitted(items: &[Item], model: &Model, games: usize, fit: Settings) -> FittedRuns {
    let settings = RunSettings { fit, seeds: 1, standard_errors: true };
    fit_seeds(model, &settings, None, &mut |_| Ok(split(items, model, games)), &mut |_| {}).unwrap()
}

/// Weight 9 counts in two positions of one game, weight 10 in one position, weight 11 never.
fn rare() -> Vec<Item> {
    let mut items = games(&values(24, 41), 400, 10, 42);
    for (i, (info, counts)) in items.iter_mut().enumerate() {
        counts.linear.retain(|(index, _)| *index < 9);
        match i {
            1003 | 1007 => counts.linear.push((9, 1.0)),
            2000 => counts.linear.push((10, 1.0)),
            _ => continue,
        }
        (info.target, info.phase) = (1.0, 0.5);
    }
    items
}

#[test]
fn a_term_counted_once_twice_or_never_stays_near_its_start_and_says_so() {
    let mut model = model(&LINEAR);
    model.slots.iter_mut().skip(18).for_each(|slot| slot.start = 20.0);
    let found = fitted(&rare(), &model, 400, by_evidence());
    let support = |slot: usize| (found.values.support[slot].positions, found.values.support[slot].games);
    assert_eq!([18, 20, 22].map(support), [(2, 1), (1, 1), (0, 0)]);
    assert!(support(0).0 > 1_000 && (300..=400).contains(&support(0).1), "{:?}", support(0));
    let away: Vec<f64> = (18..24).map(|slot| (found.outcome.values[slot] - 20.0).abs()).collect();
    assert!(away[..4].iter().all(|away| *away < 25.0) && away[4..] == [0.0, 0.0], "{away:?}");
    // Without a prior they run away as far as the sigmoid reaches.
    let free = fitted(&rare(), &model, 400, Settings { evidence: false, ..by_evidence() });
    assert!(free.outcome.values[20] - 20.0 > 500.0, "{:?}", &free.outcome.values[18..]);
    let remarks = found.remarks.join("\n");
    for part in [
        "L2 prior by evidence: standard deviations of ",
        "2 weights are never counted and keep their start: value 22, value 23",
        "4 weights are seen in fewer than 10 games: value 18 (2 positions of 1 game), value 19 (2 positions of 1 game), \
         value 20 (1 position of 1 game)",
    ] {
        assert!(remarks.contains(part), "{part}: {remarks}");
    }
    // One scale for weights that are counted and weights that are not.
    let kept = fitted(&rare(), &model, 400, Settings { keep_scale: true, ..by_evidence() });
    let Scale::Kept(factor) = kept.outcome.scale else { panic!("{:?}", kept.outcome.scale) };
    for slot in [0, 20, 22] {
        let (kept, found) = (kept.outcome.values[slot], found.outcome.values[slot]);
        assert!((kept - factor * found).abs() < 1e-9, "{slot}: {kept} {found} {factor}");
    }
    let remark = "2 weights are never counted and keep their start in that scale: value 22, value 23";
    assert!(kept.remarks.iter().any(|found| found == remark), "{:?}", kept.remarks);
    assert_eq!(found.warning, None);
    let csv = found.values.csv(&model);
    let row = csv.lines().find(|line| line.starts_with("value 20,")).unwrap();
    assert!(row.contains(",1,1,") && row.ends_with(",,false"), "{row}");
}

#[test]
fn a_start_from_more_positions_keeps_its_share_of_the_result() {
    let items = games(&values(24, 61), 100, 10, 62);
    let model = model(&LINEAR);
    let run = |start_positions| fitted(&items, &model, 100, Settings { start_positions, ..by_evidence() });
    let (alone, with_start) = (run(0), run(3_000));
    assert_eq!((alone.outcome.share, with_start.outcome.share), (1.0, 0.25));
    for (value, with_start) in alone.outcome.values.iter().zip(&with_start.outcome.values) {
        assert!((0.25 * value - with_start).abs() < 1e-9, "{value} {with_start}");
    }
    assert!(with_start.remarks.iter().any(|remark| remark.contains("take 25.0 % of the way")));
    let without_prior = Settings { evidence: false, start_positions: 3_000, ..by_evidence() };
    assert_eq!(fitted(&items, &model, 100, without_prior).outcome.share, 1.0);
}

#[test]
fn on_plentiful_data_the_prior_changes_nothing_that_matters() {
    let items = drawn(&LINEAR, &values(24, 43), 40_000, 44);
    let model = model(&LINEAR);
    let with = fitted(&items, &model, 0, by_evidence());
    let without = fitted(&items, &model, 0, Settings { evidence: false, ..by_evidence() });
    let [a, b] = [&with, &without].map(|found| found.outcome.exact.train);
    assert!((a - b).abs() < 3e-6, "{a} and {b}");
    let errors = without.values.errors.unwrap();
    for (i, error) in errors.iter().enumerate() {
        let [a, b] = [&with.outcome, &without.outcome].map(|outcome| outcome.values[i]);
        let error = error.unwrap();
        assert!((a - b).abs() < 0.5 * error, "{i}: {a} and {b} ± {error}");
    }
}

#[test]
fn a_start_that_is_right_is_hardly_left() {
    // 1,000 positions against 24 weights: their noise alone would move every weight.
    let truth = values(24, 45);
    let items = drawn(&LINEAR, &truth, 1_000, 46);
    let mut model = model(&LINEAR);
    model.slots.iter_mut().zip(&truth).for_each(|(slot, value)| slot.start = *value);
    let distance = |settings: Settings| {
        let outcome = fitted(&items, &model, 0, settings).outcome;
        outcome.values.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let [with, without] = [true, false].map(|evidence| distance(Settings { evidence, ..by_evidence() }));
    assert!(with < 0.65 * without, "{with} and {without}");
}

#[test]
fn the_scale_of_the_start_is_kept_at_the_same_loss() {
    let truth = values(24, 47);
    let items = drawn(&LINEAR, &truth, 8_000, 48);
    let mut model = model(&LINEAR);
    // The results are those of half the start's margins.
    model.slots.iter_mut().zip(&truth).for_each(|(slot, value)| slot.start = 2.0 * value);
    let fit = |keep_scale: bool| fitted(&items, &model, 0, Settings { keep_scale, ..by_evidence() }).outcome;
    let (kept, free) = (fit(true), fit(false));
    let Scale::Kept(factor) = kept.scale else { panic!("{:?}", kept.scale) };
    assert!((1.7..2.1).contains(&factor), "{factor}");
    assert!((kept.k * factor - free.k).abs() < 1e-12);
    assert!((kept.exact.train - free.exact.train).abs() < 1e-8);
    let traces = split(&items, &model, 0);
    let objective = |outcome: &TuneOutcome| {
        let SplitTraces { space, train, .. } = &traces;
        let objective = Objective { traces: train, model: &model, space, k: outcome.k, l2: 0.0, prior: &[] };
        let parameters = space.parameters_of(&outcome.values);
        (objective.loss(&parameters), objective.mean_absolute_score(&parameters))
    };
    assert!((objective(&kept).0 - objective(&free).0).abs() < 1e-8);
    let start = TuneOutcome { values: model.start(), ..free.clone() };
    assert!((objective(&kept).1 / objective(&start).1 - 1.0).abs() < 1e-6);
    model.slots.iter_mut().take(12).for_each(|slot| slot.fixed = true);
    let refused = fitted(&items, &model, 0, Settings { keep_scale: true, ..by_evidence() });
    assert!(
        refused
            .remarks
            .iter()
            .any(|remark| remark.starts_with("scale not kept: fixed terms and constants do not scale"))
    );
}

#[test]
fn small_constants_do_not_hinder_the_scale_and_halved_pieces_are_named() {
    let truth = values(24, 47);
    let mut items = drawn(&LINEAR, &truth, 8_000, 48);
    let mut model = model(&LINEAR);
    model.slots.iter_mut().zip(&truth).for_each(|(slot, value)| slot.start = 2.0 * value);
    let fit = |items: &[Item], model: &Model| {
        fitted(items, model, 0, Settings { keep_scale: true, ..by_evidence() })
    };
    let without = fit(&items, &model).outcome.scale;
    items.iter_mut().for_each(|(info, _)| info.constant = 0.5);
    let (Scale::Kept(without), Scale::Kept(with)) = (without, fit(&items, &model).outcome.scale) else {
        panic!("the scale is not kept")
    };
    assert!((with / without - 1.0).abs() < 0.02, "{with} {without}");
    items.iter_mut().for_each(|(info, _)| info.constant = 60.0);
    assert!(matches!(fit(&items, &model).outcome.scale, Scale::Impossible(_)));
    // A start far from the truth.
    items.iter_mut().for_each(|(info, _)| info.constant = 0.0);
    model.slots[0].start = truth[0] + 150.0;
    let said = fit(&items, &model).remarks.join("\n");
    let start = model.slots[0].start;
    assert!(said.contains(&format!("change by more than 40 %: value 0 {start:.0} → ")), "{said}");
}

#[test]
fn weights_at_a_bound_are_marked() {
    let mut model = model(&LINEAR);
    let mut truth = values(24, 49);
    truth[0] = 90.0;
    model.slots[0].bounds = [-8.0, 8.0];
    let found = fitted(&drawn(&LINEAR, &truth, 8_000, 50), &model, 0, by_evidence());
    assert!(
        found.remarks.contains(&"1 weights are at a bound: value 0 = 8".to_string()),
        "{:?}",
        found.remarks
    );
    assert!(found.values.csv(&model).lines().nth(1).unwrap().ends_with(",upper,false"));
}

#[test]
fn many_weights_on_few_positions_get_a_warning() {
    let items = games(&values(24, 51), 20, 10, 52);
    let warning = fitted(&items, &model(&LINEAR), 20, by_evidence()).warning.unwrap();
    let expected = "24 weights are tuned on 200 positions of 20 games; no games are held out";
    assert!(warning.starts_with(expected), "{warning}");
}

#[test]
fn standard_errors_are_those_of_a_bootstrap_by_games() {
    const GAMES: usize = 200;
    const LENGTH: usize = 10;
    let mut items = games(&values(24, 53), GAMES, LENGTH, 54);
    // Weights 8 to 11 count in 40, 20, 10 and 6 games.
    for (info, counts) in &mut items {
        let game = info.game as usize;
        counts.linear.retain(|(index, _)| match index {
            8..=11 => game < [40, 20, 10, 6][usize::from(*index) - 8],
            _ => *index < 4,
        });
    }
    let model = model(&LINEAR);
    let found = fitted(&items, &model, GAMES, by_evidence());
    let prior = &found.outcome.evidence.as_ref().unwrap().prior;
    let SplitTraces { space, .. } = split(&items, &model, GAMES);
    let start = space.parameters_of(&found.outcome.values);
    let mut rng = Rng::new(55);
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for _ in 0..400 {
        let mut times = [0.0; GAMES];
        (0..GAMES).for_each(|_| times[rng.below(GAMES)] += 1.0);
        let drawn: Vec<Item> = items
            .iter()
            .map(|(info, counts)| (TraceInfo { weight: times[info.game as usize], ..*info }, counts.clone()))
            .collect();
        let resampled = split(&drawn, &model, GAMES);
        let objective = Objective {
            traces: &resampled.train,
            model: &model,
            space: &resampled.space,
            k: 1.5,
            l2: 0.0,
            prior,
        };
        runs.push(optimum(&objective, start.clone()));
    }
    let errors = found.values.errors.unwrap();
    for (i, &slot) in space.free.iter().enumerate() {
        let mean = runs.iter().map(|run| run[i]).sum::<f64>() / 400.0;
        let bootstrap = (runs.iter().map(|run| (run[i] - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        let error = errors[slot].unwrap();
        let support = found.values.support[slot];
        assert!((error / bootstrap - 1.0).abs() < 0.2, "{slot} {support:?}: {error} and {bootstrap}");
    }
}

/// Gauss-Newton steps until none is left.
fn optimum(objective: &Objective<'_>, mut here: Vec<f64>) -> Vec<f64> {
    for _ in 0..20 {
        let (_, gradient) = objective.gradient(&here);
        let matrix = objective.normal(&here, Curvature::GaussNewton);
        let step = Cholesky::new(matrix, here.len()).unwrap().solve(&gradient);
        here.iter_mut().zip(&step).for_each(|(value, step)| *value -= step);
        if step.iter().all(|step| step.abs() < 1e-3) {
            break;
        }
    }
    here
}

const OUTSIDE: &str = r#"
format = 1
phase = { n = 1, b = 1, r = 2, q = 4, total = 24, clamp = [0, 1] }
type = "i16"

[[term]]
name = "material"
initial = [100, 200]

[[term]]
name = "tempo"
kind = "single"
initial = 30
scaled = false
"#;

#[test]
fn a_term_outside_the_scale_is_added_after_scaling() {
    let terms = terms::Terms::parse(OUTSIDE, std::path::Path::new("x")).unwrap();
    // (line, score by hand)
    let cases = [
        (&b"1 q2 scale=0.5 0:2 1:1"[..], 2.0 * (100.0 / 3.0 + 200.0 * 0.5 * 2.0 / 3.0) + 30.0),
        (b"1 q2 scale=0.5 0:2", 2.0 * (100.0 / 3.0 + 200.0 * 0.5 * 2.0 / 3.0)),
        (b"1 q2 0:2 1:-1", 2.0 * (100.0 / 3.0 + 200.0 * 2.0 / 3.0) - 30.0),
        (b"1 q9 scale=0 0:1 1:1", 130.0),
        (b"1 0 scale=0 0:7 1:1 constant=5", 35.0),
    ];
    for fixed in [vec![], vec!["material".to_string()], vec!["tempo".to_string()]] {
        let model = terms.model(&fixed).unwrap();
        let space = Space::new(&model);
        for (line, truth) in cases {
            let mut position = text::parse(line, &model, &terms.phase_formula()).unwrap();
            outside::unscale(&model, &mut position.info, &mut position.counts);
            let traces = collector(&[(position.info, position.counts)], &model, &space, 1);
            let objective =
                Objective { traces: &traces, model: &model, space: &space, k: 1.0, l2: 0.0, prior: &[] };
            let (score, _) = objective.scored(&space.parameters_of(&model.start()))[0];
            let line = String::from_utf8_lossy(line);
            assert!((f64::from(score) - truth).abs() < 1e-3, "{line}: {score} and {truth}");
        }
        assert!(text::parse(b"1 0 2:1", &model, &terms.phase_formula()).is_err());
    }
    let model = terms.model(&[]).unwrap();
    assert_eq!(model.slots[0].bounds, [-32767.0, 32767.0]);
    assert_eq!(model.slots[2].bounds, [-32768.0, 32767.0]);
    let bent = OUTSIDE.replace("initial = 30", "initial = 30\npart = \"safety\"");
    let fault = terms::Terms::parse(&bent, std::path::Path::new("x")).unwrap().model(&[]).unwrap_err();
    assert!(fault.to_string().contains("`scaled = false` is for"), "{fault}");
}

#[test]
fn the_engines_evaluation_is_compared_by_phase() {
    let terms = terms::Terms::parse(OUTSIDE, std::path::Path::new("x")).unwrap();
    let model = terms.model(&[]).unwrap();
    let mut check = eval_check::EvalCheck::new(&model, 0.5);
    for (i, line) in
        ["1 24 0:1 1:1 eval=130", "1 24 0:1 1:1 eval=129", "1 0 0:1 scale=0.5 1:1 eval=115", "0 0 0:1"]
            .iter()
            .enumerate()
    {
        let position = text::parse(line.as_bytes(), &model, &terms.phase_formula()).unwrap();
        check.see(std::path::Path::new("t.txt"), &text::TracePosition { line: i as u64 + 1, ..position });
    }
    assert_eq!((check.positions(), check.worst[0].line, check.worst[0].size()), (3, 3, 15.0));
    let said = check.to_string();
    for part in [
        "the engine's evaluation of 3 positions: off by 5.33 centipawns in the mean, 15.0 at most",
        "phase 0.00 to 0.25: 1 positions, mean 15.00, at most 15.0",
        "phase 0.75 and above: 2 positions, mean 0.50, at most 1.0",
        "t.txt: line 3: the engine says 115, weights and counts 130.0, phase 0.00",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let verdict = check.verdict().unwrap_err();
    assert!(matches!(verdict, Error::Hinted(_, Hint::MaxDeviation(15.0))), "{verdict:?}");
    let told = "a deviation of 15.0 centipawns; 2 of 3 positions are above 0.5";
    assert!(verdict.to_string().ends_with(told), "{verdict}");
}

#[test]
fn a_judge_tells_values_that_suit_own_scores_from_those_that_suit_other_games() {
    let (own, other) = (values(24, 51), values(24, 52));
    let of_scores = |truth: &[f64]| {
        let (mut items, model) = (games(truth, 600, 10, 53), model(&LINEAR));
        let space = Space::new(&model);
        for item in &mut items {
            // One at a time, since a collector shuffles.
            let traces = collector(std::slice::from_ref(item), &model, &space, 1);
            let objective =
                Objective { traces: &traces, model: &model, space: &space, k: 1.0, l2: 0.0, prior: &[] };
            item.0.target = expected_score(objective.scored(truth)[0].0.into(), 1.2) as f32;
        }
        items
    };
    let judged = |start: &[f64], truth: &[f64], results_of: &[f64]| {
        let mut model = model(&LINEAR);
        model.slots.iter_mut().zip(start).for_each(|(slot, start)| slot.start = *start);
        let own = OwnPositions {
            scores: split(&of_scores(&own), &model, 600),
            results: split(&drawn(&LINEAR, results_of, 6_000, 55), &model, 0),
        };
        let settings = RunSettings {
            fit: Settings { k: Some(1.5), ..Settings::default() },
            seeds: 1,
            standard_errors: false,
        };
        let mut load = |_| Ok(split(&drawn(&LINEAR, truth, 6_000, 54), &model, 0));
        fit_seeds(&model, &settings, Some(&own), &mut load, &mut |_| {}).unwrap().judgement.unwrap()
    };
    let worse = judged(&own, &other, &own);
    assert_eq!((worse.verdict, worse.positions), (Verdict::Worse, 6_000), "{worse:?}");
    // The scores are the start's own, under another K.
    assert!(worse.loss_before < 1e-9, "{worse:?}");
    let better = judged(&other, &own, &own);
    assert!(better.verdict == Verdict::Better && better.loss_after < 0.5 * better.loss_before, "{better:?}");
    // Results may know more than the scores.
    let unknown = judged(&own, &other, &other);
    assert!(unknown.loss_after > unknown.loss_before + 2.0 * unknown.error, "{unknown:?}");
    assert!(unknown.verdict == Verdict::Undecided && unknown.results_change < 0.0, "{unknown:?}");
    // A start of nothing has no K of its own.
    let from_nothing = judged(&[0.0; 24], &own, &own);
    assert_eq!(from_nothing.verdict, Verdict::Better, "{from_nothing:?}");
}
