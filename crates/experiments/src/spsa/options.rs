//! Numbers among the options of a UCI engine as parameters.

use super::Param;
use super::patterns::{PatternError, chosen};
use patzer_match::Spin;

/// Options of the protocol and of usual engines that decide no evaluation and no search, in lower case.
const SETTINGS: [&str; 12] = [
    "hash",
    "threads",
    "multipv",
    "move overhead",
    "slow mover",
    "skill level",
    "nodestime",
    "contempt",
    "syzygyprobedepth",
    "syzygyprobelimit",
    "minimum thinking time",
    "ownbook",
];

/// Parameters of the options whose names match patterns with `*`, whole or up to a dot, with commas between; without
/// patterns all but the settings of an engine, such as `Hash`.
pub fn params(spins: &[Spin], patterns: Option<&str>) -> Result<Vec<Param>, PatternError> {
    let spins: Vec<&Spin> = match patterns {
        None => spins.iter().filter(|spin| !is_setting(&spin.name)).collect(),
        Some(patterns) => {
            let names: Vec<&str> = spins.iter().map(|spin| &spin.name[..]).collect();
            chosen(&names, patterns, "option")?.into_iter().map(|at| &spins[at]).collect()
        }
    };
    Ok(spins.into_iter().map(param).collect())
}

fn is_setting(name: &str) -> bool {
    let name = name.to_lowercase();
    SETTINGS.contains(&&name[..]) || name.starts_with("uci_")
}

/// A parameter with a twentieth of its range, or of 40 times its size if that is less, as the last perturbation, as is
/// usual in fishtest.
fn param(spin: &Spin) -> Param {
    let &Spin { ref name, default, min, max } = spin;
    let [start, min, max]: [f64; 3] = [default, min, max].map(|value| value as f64);
    let (min, max) = match max - min {
        // A range that says nothing.
        width if width > 1e6 => {
            let reach = (20.0 * start.abs()).max(20.0);
            ((start - reach).max(min), (start + reach).min(max))
        }
        _ => (min, max),
    };
    let c_end = ((max - min) / 20.0).max(0.5);
    Param { name: name.clone(), float: false, start, min, max, c_end, r_end: 0.002 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_left_out_unless_they_are_named() {
        let spin = |name: &str, default, min, max| Spin { name: name.into(), default, min, max };
        let spins = [
            spin("Hash", 16, 1, 1024),
            spin("UCI_Elo", 1500, 1000, 3000),
            spin("KnightMg", 320, 200, 440),
            spin("Tempo", 10, i64::MIN, i64::MAX),
            spin("Flag", 0, 0, 1),
        ];
        let lines = |patterns| -> Result<Vec<String>, PatternError> {
            Ok(params(&spins, patterns)?.iter().map(Param::to_string).collect())
        };
        let all = [
            "KnightMg, int, 320, 200, 440, 12, 0.002",
            "Tempo, int, 10, -190, 210, 20, 0.002",
            "Flag, int, 0, 0, 1, 0.5, 0.002",
        ];
        assert_eq!(lines(None).unwrap(), all);
        assert_eq!(lines(Some("Hash, Knight*")).unwrap(), ["Hash, int, 16, 1, 1024, 51.15, 0.002", all[0]]);
        assert!(lines(Some("Rook*")).unwrap_err().to_string().contains("no option matches `Rook*`"));
    }
}
