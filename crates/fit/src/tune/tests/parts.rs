//! Tests of the non-linear parts that a terms file declares.

use super::*;

/// Every kind of part, with weights and counts that reach both sides of their clamps and tables.
const PARTS: &str = r#"
format = 1
[[part]]
name = "attack"
factors = 2
halves = ["square", "linear"]
divisors = [400, 30]
clamp = [-5, 900]
malus = true
[[part]]
name = "units"
halves = ["safety_table", "none"]
divisors = [8, 1]
[[part]]
name = "mop_up"
ahead = true
halves = ["none", "linear"]
[[part]]
name = "scale"
ahead = true
halves = ["none", "scale"]
divisors = [1, 128]
clamp = [20, 128]
[[term]]
name = "material"
shape = 3
initial = [[20, 30], [-15, 25], [35, -20]]
[[term]]
name = "power"
part = "attack"
shape = 2
initial = [[6, 4], [9, 7]]
[[term]]
name = "modifier"
part = "attack.2"
shape = 2
initial = [[5, 3], [4, 6]]
[[term]]
name = "unit"
part = "units"
shape = 2
kind = "midgame"
initial = [11, 7]
[[term]]
name = "safety_table"
part = "table"
shape = 5
kind = "midgame"
initial = [0, 5, 17, 40, 90]
[[term]]
name = "distance"
part = "mop_up"
kind = "endgame"
initial = 8
[[term]]
name = "drawish"
part = "complexity"
kind = "endgame"
initial = -6
[[term]]
name = "normal"
part = "scale"
kind = "endgame"
shape = 2
initial = [90, 19]
[[term]]
name = "tempo"
kind = "single"
initial = 9
scaled = false
"#;

#[test]
fn declared_parts_have_the_slopes_of_finite_differences_and_their_tables_support() {
    let terms = terms::Terms::parse(PARTS, std::path::Path::new("x.toml")).unwrap();
    let model = terms.model(&[]).unwrap();
    let mut rng = Rng::new(31);
    let mut items: Vec<Item> = (0..3_000)
        .map(|_| {
            let mut line = format!("{} {}", rng.unit() as f32, rng.unit() as f32);
            (0..3).for_each(|i| line += &format!(" {i}:{}", rng.below(7) as i32 - 3));
            (3..9).for_each(|i| line += &format!(" {i}:{}/{}", rng.below(4), rng.below(4)));
            line += &format!(" 14:{}/{} 15:{}", rng.below(5), rng.below(5), rng.below(4));
            line += &format!(" 16:1/1 17:{}/{} 18:{}", rng.below(4), rng.below(4), rng.below(3) as i32 - 1);
            let position = text::parse(line.as_bytes(), &model, &phase::Phase::of(1.0)).unwrap();
            (position.info, position.counts)
        })
        .collect();
    // A part that no position counts is 0, whatever the table begins with.
    items[0].1.safety.clear();
    let mut space = Space::new(&model);
    let mut traces = collector(&items, &model, &space, 700);
    traces::arrange(&model, &mut space, &mut traces, &mut Traces::default());
    let objective = Objective { traces: &traces, model: &model, space: &space, k: 1.4, l2: 0.0, prior: &[] };
    let at: Vec<f64> = space.parameters_of(&model.start()).iter().map(|value| value + 0.37).collect();
    let (loss, exact) = objective.gradient(&at);
    assert!((loss - objective.loss(&at)).abs() < 1e-12);
    assert_eq!(exact.len(), 6 + 4 + 4 + 2 + 5 + 1 + 1 + 2 + 1);
    for (i, exact) in exact.iter().enumerate() {
        let with = |delta: f64| objective.gradient(&moved(&at, i, delta)).0;
        let slope = (with(1e-3) - with(-1e-3)) / 2e-3;
        let name = &model.slots[space.free[i]].name;
        assert!(slope != 0.0, "{name}");
        assert!((slope - exact).abs() < 1e-7 + 2e-3 * slope.abs(), "{name}: {slope} and {exact}");
    }
    for (i, support) in support::support(&traces, &model, &space).iter().enumerate() {
        assert!(support.positions > 1_000, "{}", model.slots[space.free[i]].name);
    }
    let fitted = fit(
        &model,
        &space,
        &traces,
        &Traces::default(),
        &Settings { k: Some(1.4), ..Settings::default() },
        &mut |_| {},
    );
    assert!(fitted.unwrap().exact.train < loss);
}

#[test]
fn parts_without_sense_are_refused() {
    for (from, to, reason) in [
        ("[\"none\", \"scale\"]", "[\"scale\", \"none\"]", "`scale` is of the endgame half"),
        (
            "ahead = true\nhalves = [\"none\", \"scale\"]",
            "halves = [\"none\", \"scale\"]",
            "and `ahead = true`",
        ),
        ("factors = 2", "factors = 4", "part `attack`: `factors` are 1 to 3"),
        ("factors = 2", "", "`modifier`: `attack.2`: the factors of `attack` are 1 to 1"),
        ("part = \"units\"", "part = \"unit\"", "`unit`: `unit` is no part"),
        (
            "\"safety_table\", \"none\"",
            "\"material\", \"none\"",
            "`material` is neither none, linear, square, scale nor",
        ),
        ("clamp = [-5, 900]", "clamp = [5, 5]", "`clamp` needs"),
        ("divisors = [8, 1]", "divisors = [0, 1]", "above 0"),
        ("name = \"units\"", "name = \"attack\"", "is there twice"),
        ("name = \"units\"", "name = \"table\"", "a name of its own"),
    ] {
        let text = PARTS.replacen(from, to, 1);
        let error = terms::Terms::parse(&text, std::path::Path::new("x.toml")).unwrap_err().to_string();
        assert!(error.contains(reason), "{to}: {error}");
    }
}

#[test]
fn the_side_that_is_ahead_gives_the_scale_and_terms_outside_it_are_not_scaled() {
    let text = r#"
format = 1
[[part]]
name = "scale"
ahead = true
halves = ["none", "scale"]
divisors = [1, 128]
clamp = [0, 128]
[[term]]
name = "pawn"
initial = [100, 200]
[[term]]
name = "factor"
part = "scale"
kind = "endgame"
initial = 1
fixed = true
[[term]]
name = "tempo"
kind = "single"
initial = 18
scaled = false
"#;
    let terms = terms::Terms::parse(text, std::path::Path::new("x.toml")).unwrap();
    let model = terms.model(&[]).unwrap();
    let score = |line: &str| {
        let position = text::parse(line.as_bytes(), &model, &phase::Phase::of(1.0)).unwrap();
        let mut builder = chunk::ChunkBuilder::default();
        let (mut info, mut counts) = (position.info, position.counts);
        outside::unscale(&model, &mut info, &mut counts);
        builder.push(info, &counts);
        let mut found = 0.0;
        let pairs = model.pairs(&model.start());
        reference::each(&builder.finish(), &pairs, &model.nonlinear, |_, score, _| found = score);
        found
    };
    // White is ahead: 25 + 0.75 · 200 · 64 / 128; Black: 96 / 128.
    assert_eq!(score("1 0.25 0:1 1:64/96"), 25.0 + 75.0);
    assert_eq!(score("1 0.25 0:-1 1:64/96"), -25.0 - 112.5);
    assert_eq!(score("1 0.25 0:-1 1:64/96 2:1"), -25.0 - 112.5 + 18.0);
    // Beyond the clamp, with a further scale of the line, and counted as 0.
    assert_eq!(score("1 0.25 0:1 1:300/0 2:-1"), 25.0 + 150.0 - 18.0);
    assert_eq!(score("1 0.25 scale=0.5 0:1 1:64/0 2:-1"), 25.0 + 37.5 - 18.0);
    assert_eq!(score("1 0.25 0:1"), 25.0);
    assert_eq!(score("1 0.25 0:1 1:0/128"), 25.0);
}
