//! Match output in the format of fastchess or cutechess-cli; games are reported when finished.

mod cutechess;
pub mod events;
mod fastchess;
mod numbers;

pub use numbers::MatchStatus;
use patzer_io::Named;
use patzer_match::{Pair, PairGame, Reason, Tally, pgn};
use patzer_stats::{Sprt, Trinomial};

/// Format of match output
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// The result at the end.
    #[default]
    Patzer,
    /// Lines of fastchess.
    Fastchess,
    /// Lines of cutechess-cli.
    Cutechess,
    /// Lines of fastchess in the words of cutechess-cli, its `-output format=cutechess`.
    FastchessAsCutechess,
}

impl Named for OutputFormat {
    /// The formats that have a name: the last one is fastchess's alone.
    const ALL: &'static [OutputFormat] =
        &[OutputFormat::Patzer, OutputFormat::Fastchess, OutputFormat::Cutechess];

    fn name(self) -> &'static str {
        match self {
            OutputFormat::Patzer => "patzer",
            OutputFormat::Fastchess => "fastchess",
            OutputFormat::Cutechess | OutputFormat::FastchessAsCutechess => "cutechess",
        }
    }

    fn about(self) -> &'static str {
        match self {
            OutputFormat::Patzer => "The result at the end",
            OutputFormat::Fastchess => "Lines of fastchess",
            OutputFormat::Cutechess => "Lines of cutechess-cli",
            OutputFormat::FastchessAsCutechess => "Lines of fastchess in the words of cutechess-cli",
        }
    }
}

impl OutputFormat {
    /// Lines of a finished pair. `of` is the number of all games, `now` the score of two players.
    pub fn games(self, pair: &Pair, names: &[String], of: usize, now: Option<Trinomial>) -> String {
        let lines = |number| {
            let game = pair.game(number);
            let now = now.map(|now| if number == 0 { without(now, pair.half_points()[1]) } else { now });
            started(&game, names, of) + &self.finished(&game, names, now)
        };
        [0, 1].map(lines).concat()
    }

    /// Lines of the end of a game; with cutechess the score `now` after it.
    pub fn finished(self, game: &PairGame, names: &[String], now: Option<Trinomial>) -> String {
        let (played, [white, black]) = (game.game, game.seats());
        let (white, black, number) = (&names[white], &names[black], 2 * game.index + game.number + 1);
        let (result, how) = (played.result(), pgn::how_it_ended(played));
        // The move itself is in the PGN alone.
        let how = match played.reason {
            Reason::IllegalMove => how.split(": ").next().unwrap_or_default(),
            _ => &how,
        };
        let mut text = format!("Finished game {number} ({white} vs {black}): {result} {{{how}}}\n");
        if let (OutputFormat::Cutechess | OutputFormat::FastchessAsCutechess, Some(now)) = (self, now) {
            let both = game.pairing.players.map(|player| names[player].as_str());
            text += &cutechess::score(both, now);
        }
        text
    }

    pub fn standing(self, standing: &MatchStatus) -> String {
        match self {
            OutputFormat::Patzer => String::new(),
            OutputFormat::Fastchess => fastchess::standing(standing),
            OutputFormat::Cutechess => cutechess::standing(standing),
            OutputFormat::FastchessAsCutechess => cutechess::standing_of_fastchess(standing),
        }
    }

    pub fn ranking(self, players: &[(&str, Tally)]) -> String {
        match self {
            OutputFormat::Patzer => String::new(),
            OutputFormat::Fastchess => fastchess::ranking(players),
            OutputFormat::Cutechess => cutechess::ranking(players),
            OutputFormat::FastchessAsCutechess => cutechess::ranking_of_fastchess(players),
        }
    }

    pub fn end(self, test: Option<(Sprt, f64)>) -> String {
        let verdict = match (self, test) {
            (OutputFormat::Patzer, _) => return String::new(),
            (OutputFormat::FastchessAsCutechess, Some((sprt, llr))) => {
                cutechess::verdict_of_fastchess(&sprt, llr)
            }
            (OutputFormat::Fastchess, Some((sprt, llr))) => fastchess::verdict(&sprt, llr),
            _ => String::new(),
        };
        verdict + "Finished match\n"
    }
}

/// Line of the start of a game.
pub fn started(game: &PairGame, names: &[String], of: usize) -> String {
    let [white, black] = game.seats();
    let number = 2 * game.index + game.number + 1;
    format!("Started game {number} of {of} ({} vs {})\n", names[white], names[black])
}

/// The score before the last game, given the first player's half points in it.
pub fn without(mut games: Trinomial, half_points: u8) -> Trinomial {
    let count = count_of(&mut games, half_points);
    *count = count.saturating_sub(1);
    games
}

/// The count of games with these half points.
pub fn count_of(games: &mut Trinomial, half_points: u8) -> &mut u64 {
    match half_points {
        0 => &mut games.losses,
        1 => &mut games.draws,
        _ => &mut games.wins,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_stats::{Model, Pentanomial};

    pub fn tally() -> Tally {
        Tally {
            games: Trinomial { wins: 23, draws: 40, losses: 17 },
            pairs: Pentanomial([0, 5, 24, 11, 0]),
            colours: [
                Trinomial { wins: 13, draws: 20, losses: 7 },
                Trinomial { wins: 10, draws: 20, losses: 10 },
            ],
            traded: 12,
            ..Tally::default()
        }
    }

    pub fn sprt() -> Sprt {
        Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap()
    }

    #[test]
    fn the_score_after_the_first_game_leaves_out_the_second() {
        let now = Trinomial { wins: 2, draws: 1, losses: 1 };
        assert_eq!(without(now, 2), Trinomial { wins: 1, draws: 1, losses: 1 });
        assert_eq!(without(now, 1), Trinomial { wins: 2, draws: 0, losses: 1 });
        assert_eq!(without(now, 0), Trinomial { wins: 2, draws: 1, losses: 0 });
    }

    #[test]
    fn only_others_say_that_the_match_is_over() {
        assert_eq!(OutputFormat::Patzer.end(None), "");
        assert_eq!(OutputFormat::Cutechess.end(Some((sprt(), 3.0))), "Finished match\n");
        let end = |llr| OutputFormat::FastchessAsCutechess.end(Some((sprt(), llr)));
        assert_eq!(end(3.0), "Tournament finished\nFinished match\n");
        assert_eq!(
            (end(1.0), OutputFormat::FastchessAsCutechess.end(None)),
            ("Finished match\n".into(), end(1.0))
        );
        assert_eq!(
            OutputFormat::Fastchess.end(Some((sprt(), -3.0))),
            "SPRT ([0.00, 5.00]) completed - H0 was accepted\nFinished match\n"
        );
    }
}
