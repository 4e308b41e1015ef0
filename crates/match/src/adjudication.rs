//! Adjudication by score and length, with the rules of cutechess-cli and fastchess.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use shakmaty::{Chess, Color, Position};

use patzer_chess::score::Score;
use patzer_io::message_error;

/// Draw when both sides score within `score` of zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawRule {
    /// Full moves before the rule applies, the opening not counted.
    pub after: u32,
    /// Consecutive moves of each side; a capture or pawn move resets the count.
    pub moves: u32,
    pub score: Score,
}

/// Win when the scores agree that one side is far ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResignRule {
    /// Consecutive moves: of each side, or of the loser alone with [`Adjudication::loser_resigns`].
    pub moves: u32,
    pub score: Score,
}

/// Adjudication rules; `None` switches a rule off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Adjudication {
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
    pub loser_resigns: bool,
    /// Full moves after which the game is drawn, the opening not counted.
    pub max_moves: Option<u32>,
    pub rule_set: RuleSet,
}

/// The match runner whose rules decide where they differ.
///
/// Fastchess scores every flag fall as a loss, cutechess-cli as a draw against a bare king, patzer as a draw if the
/// opponent cannot mate. Fastchess adjudicates a win after a move of the losing side alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleSet {
    Patzer,
    Fastchess,
    Cutechess,
}

impl Adjudication {
    pub const NONE: Adjudication = Adjudication {
        draw: None,
        resign: None,
        loser_resigns: false,
        max_moves: None,
        rule_set: RuleSet::Patzer,
    };
}

impl fmt::Display for DrawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DrawRule { after, moves, score } = self;
        write!(f, "{after},{moves},{score}")
    }
}

impl fmt::Display for ResignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResignRule { moves, score } = self;
        write!(f, "{moves},{score}")
    }
}

patzer_io::serde_as_text!(DrawRule);
patzer_io::serde_as_text!(ResignRule);

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let mut parts = text.split(',').map(|part| part.trim().parse().ok());
    let values = std::array::from_fn(|_| parts.next().flatten());
    if parts.next().is_some() || values.iter().any(Option::is_none) {
        return None;
    }
    Some(values.map(Option::unwrap_or_default))
}

message_error!(RuleError);

impl FromStr for DrawRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<DrawRule, RuleError> {
        match numbers(text) {
            Some([after, moves, score]) if moves > 0 && score < 30_000 => {
                Ok(DrawRule { after, moves, score: score as Score })
            }
            _ => Err(RuleError(format!("`{text}`: write AFTER,MOVES,CENTIPAWNS, for example 40,8,10"))),
        }
    }
}

impl FromStr for ResignRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<ResignRule, RuleError> {
        match numbers(text) {
            Some([moves, score]) if moves > 0 && score > 0 && score < 30_000 => {
                Ok(ResignRule { moves, score: score as Score })
            }
            _ => Err(RuleError(format!("`{text}`: write MOVES,CENTIPAWNS, for example 4,600"))),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Draw,
    Win(Color),
    MoveLimit,
}

#[derive(Debug, Clone)]
pub struct Adjudicator {
    rules: Adjudication,
    /// Plies of the opening that [`DrawRule::after`] counts.
    opening: u64,
    plies: u64,
    quiet_plies: u64,
    /// Consecutive moves of either side that score this colour far ahead.
    winning: (Option<Color>, u64),
    /// Consecutive own moves that score the mover far behind; indices Black, White.
    losing: [u64; 2],
}

impl Adjudicator {
    /// Counts of a game from a position to which `book` plies led: fastchess counts the moves of the position's FEN,
    /// cutechess-cli the book's.
    pub fn new(rules: Adjudication, start: &Chess, book: usize) -> Adjudicator {
        let opening = match rules.rule_set {
            RuleSet::Patzer => 0,
            RuleSet::Fastchess => {
                2 * u64::from(start.fullmoves().get() - 1) + u64::from(start.turn().is_black())
            }
            RuleSet::Cutechess => book as u64,
        };
        Adjudicator { rules, opening, plies: 0, quiet_plies: 0, winning: (None, 0), losing: [0; 2] }
    }

    /// Records a move with its score from the mover's side. `halfmoves` is the fifty-move counter after it. A
    /// move without a score resets the counts, as in fastchess.
    pub fn after_move(&mut self, mover: Color, score: Option<Score>, halfmoves: u32) -> Option<Decision> {
        // Every rule by name, so that a new one does not compile until it decides games.
        let Adjudication { draw, resign, loser_resigns, max_moves, rule_set } = self.rules;
        self.plies += 1;
        let decision = if let Some(score) = score {
            let win = resign.and_then(|rule| self.win(rule, loser_resigns, rule_set, mover, score));
            let mut drawn = || draw.is_some_and(|rule| self.draw(rule, score, halfmoves));
            win.map(Decision::Win).or_else(|| drawn().then_some(Decision::Draw))
        } else {
            (self.quiet_plies, self.winning) = (0, (None, 0));
            self.losing[usize::from(mover.is_white())] = 0;
            None
        };
        let too_long = max_moves.is_some_and(|moves| self.plies >= 2 * u64::from(moves));
        decision.or(too_long.then_some(Decision::MoveLimit))
    }

    fn draw(&mut self, rule: DrawRule, score: Score, halfmoves: u32) -> bool {
        if halfmoves == 0 || score.abs() > rule.score {
            self.quiet_plies = 0;
        }
        if score.abs() <= rule.score {
            self.quiet_plies += 1;
        }
        self.quiet_plies >= 2 * u64::from(rule.moves)
            && self.opening + self.plies >= 2 * u64::from(rule.after)
    }

    fn win(
        &mut self,
        rule: ResignRule,
        loser_resigns: bool,
        rule_set: RuleSet,
        mover: Color,
        score: Score,
    ) -> Option<Color> {
        let ahead = (score.abs() >= rule.score).then_some(if score > 0 { mover } else { !mover });
        if loser_resigns {
            let count = &mut self.losing[usize::from(mover.is_white())];
            *count = if ahead == Some(!mover) { *count + 1 } else { 0 };
            return (*count >= u64::from(rule.moves) && score < 0).then_some(!mover);
        }
        let before = if self.winning.0 == ahead { self.winning.1 } else { 0 };
        self.winning = (ahead, before + 1);
        let due =
            self.winning.1 >= 2 * u64::from(rule.moves) && (score < 0 || rule_set != RuleSet::Fastchess);
        ahead.filter(|_| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Adjudication = Adjudication {
        draw: Some(DrawRule { after: 5, moves: 2, score: 10 }),
        resign: Some(ResignRule { moves: 2, score: 600 }),
        loser_resigns: false,
        max_moves: Some(20),
        rule_set: RuleSet::Patzer,
    };

    fn decided_at(rules: Adjudication, scores: impl IntoIterator<Item = Score>) -> Option<(usize, Decision)> {
        let mut adjudicator = Adjudicator::new(rules, &Chess::default(), 0);
        for (ply, score) in scores.into_iter().enumerate() {
            let mover = Color::from_white(ply % 2 == 0);
            if let Some(decision) = adjudicator.after_move(mover, Some(mover.fold_wb(score, -score)), 1) {
                return Some((ply + 1, decision));
            }
        }
        None
    }

    #[test]
    fn both_sides_have_to_see_the_draw() {
        let scores = [50, 50, 50, 50, 50, 50, 10, -10, 0, 5];
        assert_eq!(decided_at(RULES, scores), Some((10, Decision::Draw)));
        let scores = [50, 50, 50, 50, 50, 50, 11, -10, 0, 5, 0];
        assert_eq!(decided_at(RULES, scores), Some((11, Decision::Draw)));
        assert_eq!(decided_at(RULES, [0; 12]), Some((10, Decision::Draw)));
        assert_eq!(decided_at(RULES, [0, 50, 0, 50, 0, 50, 0, 50, 0, 50, 0, 50]), None);
    }

    #[test]
    fn the_moves_of_the_opening_count_if_they_are_to() {
        let start = "4k3/8/8/8/8/8/4P3/4K3 b - - 7 4";
        let start = patzer_chess::fen::position(start, false).unwrap();
        for (rule_set, plies) in [(RuleSet::Fastchess, 4), (RuleSet::Cutechess, 8), (RuleSet::Patzer, 10)] {
            let mut adjudicator = Adjudicator::new(Adjudication { rule_set, ..RULES }, &start, 2);
            let drawn = |ply: &usize| {
                adjudicator.after_move(Color::from_white(ply.is_multiple_of(2)), Some(0), 9)
                    == Some(Decision::Draw)
            };
            assert_eq!((1..50).find(drawn), Some(plies));
        }
    }

    #[test]
    fn progress_resets_the_draw_count() {
        let mut adjudicator = Adjudicator::new(RULES, &Chess::default(), 0);
        for ply in 1..=12 {
            let halfmoves = if ply == 9 { 0 } else { 5 };
            let decision = adjudicator.after_move(Color::from_white(ply % 2 == 1), Some(0), halfmoves);
            assert_eq!(decision.is_some(), ply == 12, "ply {ply}");
        }
    }

    #[test]
    fn both_sides_have_to_see_the_win_or_the_loser_alone() {
        assert_eq!(decided_at(RULES, [600, 700, 800, 900]), Some((4, Decision::Win(Color::White))));
        assert_eq!(decided_at(RULES, [0, -600, -700, -800, -900]), Some((5, Decision::Win(Color::Black))));
        assert_eq!(decided_at(RULES, [700, 100, 700, 100, 700, 100, 700]), None);
        assert_eq!(decided_at(RULES, [700, -700, 700, -700, 700, -700]), None);
        assert_eq!(decided_at(RULES, [31_990; 4]), Some((4, Decision::Win(Color::White))));

        let rules = Adjudication { rule_set: RuleSet::Fastchess, ..RULES };
        assert_eq!(decided_at(rules, [600, 700, 800, 900]), Some((4, Decision::Win(Color::White))));
        assert_eq!(decided_at(rules, [0, 600, 700, 800, 900, 900]), Some((6, Decision::Win(Color::White))));
        let rules = Adjudication { loser_resigns: true, ..RULES };
        assert_eq!(decided_at(rules, [100, 700, 100, 700]), Some((4, Decision::Win(Color::White))));
        assert_eq!(decided_at(rules, [700, 100, 700, 100, 700, 100]), None);
    }

    #[test]
    fn a_move_without_a_score_resets_the_counts() {
        let decided = |scores: [Option<Score>; 5], rules| {
            let mut adjudicator = Adjudicator::new(rules, &Chess::default(), 0);
            let moves = scores.into_iter().enumerate();
            moves.map(|(ply, score)| adjudicator.after_move(Color::from_white(ply % 2 == 0), score, 1)).last()
        };
        let rules = Adjudication { draw: Some(DrawRule { after: 2, moves: 2, score: 10 }), ..RULES };
        let quiet = [Some(50), Some(0), Some(0), Some(0), Some(0)];
        assert_eq!(decided(quiet, rules), Some(Some(Decision::Draw)));
        assert_eq!(decided([Some(50), Some(0), None, Some(0), Some(0)], rules), Some(None));
        let won = [Some(0), Some(-700), Some(700), Some(-700), Some(700)];
        assert_eq!(decided(won, rules), Some(Some(Decision::Win(Color::White))));
        assert_eq!(decided([won[0], won[1], None, won[3], won[4]], rules), Some(None));
        let rules = Adjudication { loser_resigns: true, ..rules };
        assert_eq!(decided([won[0], won[1], won[2], None, won[4]], rules), Some(None));
    }

    #[test]
    fn long_games_end() {
        assert_eq!(decided_at(RULES, [100; 50]), Some((40, Decision::MoveLimit)));
        assert_eq!(decided_at(Adjudication::NONE, [0; 5000]), None);
    }

    #[test]
    fn rules_are_read_as_documented_and_as_they_are_stored() {
        let text = serde_json::to_string(&RULES).unwrap();
        let stored =
            r#"{"draw":"5,2,10","resign":"2,600","loser_resigns":false,"max_moves":20,"rule_set":"patzer"}"#;
        assert_eq!(text, stored);
        assert_eq!(RULES.draw.unwrap().to_string().parse(), Ok(RULES.draw.unwrap()));
        assert_eq!(RULES.resign.unwrap().to_string().parse(), Ok(RULES.resign.unwrap()));
        assert_eq!("40,8,10".parse(), Ok(DrawRule { after: 40, moves: 8, score: 10 }));
        assert_eq!("4, 600".parse(), Ok(ResignRule { moves: 4, score: 600 }));
        for text in ["", "4", "4,0", "0,600", "4,600,1", "a,b", "4,-1", "4,99999"] {
            assert!(text.parse::<ResignRule>().is_err(), "{text}");
        }
        for text in ["40,8", "40,0,10", "40,8,10,1"] {
            assert!(text.parse::<DrawRule>().is_err(), "{text}");
        }
    }
}
