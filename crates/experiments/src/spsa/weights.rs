//! Weights of an evaluation as parameters, by their names in [`patzer_eval::named_weights`].

use super::Param;
use super::patterns::{PatternError, chosen};
use patzer_eval::Evaluation;
use patzer_eval::hce::LARGEST;
use patzer_eval::named_weights::named_weights;

/// Parameters of the weights whose names match patterns with `*`, whole or up to a dot, with commas between.
pub fn params(evaluation: &Evaluation, patterns: &str) -> Result<Vec<Param>, PatternError> {
    let all = named_weights(evaluation);
    let names: Vec<&str> = all.iter().map(|(name, _)| &name[..]).collect();
    let chosen = chosen(&names, patterns, "weight")?;
    Ok(chosen.into_iter().map(|at| param(evaluation, &all[at].0, all[at].1)).collect())
}

fn param(evaluation: &Evaluation, name: &str, value: i32) -> Param {
    let (size, start) = (f64::from(value.abs()), f64::from(value));
    let (least, most) = match evaluation {
        Evaluation::Hce(_) => (2.0, f64::from(LARGEST)),
        // Weights beyond 127 would leave the fast path of the inference.
        Evaluation::Nnue(_) if name.contains(".weight.") => (2.0, size.max(127.0)),
        Evaluation::Nnue(_) | Evaluation::Stockfish(_) => (16.0, f64::from(i16::MAX)),
    };
    let c_end = (size / 20.0).round().max(least);
    let (min, max) = ((start - 20.0 * c_end).max(-most), (start + 20.0 * c_end).min(most));
    Param { name: name.to_string(), float: false, start, min, max, c_end, r_end: 0.002 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_eval::named_weights::with;
    use shakmaty::Square;

    fn weight(evaluation: &Evaluation, name: &str) -> i32 {
        named_weights(evaluation).into_iter().find(|(known, _)| known == name).unwrap().1
    }

    #[test]
    fn weights_are_chosen_by_pattern_and_set_by_name() {
        let hce = Evaluation::default_hce();
        let queen = params(&hce, "material.queen.*").or_else(|_| params(&hce, "material.queen")).unwrap();
        assert_eq!(
            queen.iter().map(|param| &param.name[..]).collect::<Vec<_>>(),
            ["material.queen.mg", "material.queen.eg"]
        );
        let boards = params(&hce, "psqt.knight,material.pawn.mg").unwrap();
        assert_eq!(boards.len(), 129);
        assert!(boards.iter().any(|param| param.name == "psqt.knight.a8.eg"));
        let changed = with(&hce, &[("psqt.knight.a8.eg".into(), "-77".into())]).unwrap();
        assert_eq!(weight(&changed, "psqt.knight.a8.eg"), -77);
        assert_eq!(weight(&changed, "psqt.knight.a8.mg"), weight(&hce, "psqt.knight.a8.mg"));
        let Evaluation::Hce(weights) = &changed else { panic!() };
        assert_eq!(weights.part("psqt", "knight").unwrap()[Square::A8 as usize][1], -77);
        assert!(
            params(&hce, "material.quen")
                .unwrap_err()
                .to_string()
                .contains("`material.quen`; names are such as")
        );
        assert!(with(&hce, &[("tempo".into(), "1".into())]).is_err());
    }

    #[test]
    fn the_output_layer_of_a_network_is_tuned_alone() {
        let network = Evaluation::default();
        let params = params(&network, "output").unwrap();
        let bias = params.iter().find(|param| param.name.contains("bias")).unwrap();
        let changed = with(&network, &[(bias.name.clone(), "123".into())]).unwrap();
        assert_eq!(weight(&changed, &bias.name), 123);
        let (Evaluation::Nnue(before), Evaluation::Nnue(after)) = (&network, &changed) else { panic!() };
        let (before, after) = (before.weights(), after.weights());
        assert!(
            before.features == after.features && before.bias == after.bias && before.dense != after.dense
        );
        for param in params.iter().filter(|param| param.name.contains("weight")) {
            assert!(param.min >= -128.0 || param.start < -127.0, "{param}");
        }
    }
}
