//! Evaluation report: residuals by phase, calibration against results and scores, and the worst positions.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use shakmaty::fen::Fen;
use shakmaty::{Board, Color, EnPassantMode};

use super::against::{self, Labels, WIDTH};
use super::axes::Axes;
use super::diagram::Diagram;
use super::figure::{Drawing, Figure};
use super::move_values::{MoveValues, PlayedMove};
use super::plot::{Band, Curves};
use super::section::{Part, Section};
use super::style::{BLUE, ORANGE};
use super::table::{Cell, Table};
use super::values::{Place, values};
use patzer_chess::PackedBoard;
use patzer_chess::packed::NO_EP;
use patzer_chess::score::expected_score;
use patzer_chess::score::is_mate;
use patzer_eval::Evaluation;
use patzer_eval::hce::{FULL_PHASE, phase};
use patzer_fit::wdl::fit_k;
use patzer_io::error::Result;

/// A position with its result, to evaluate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    /// Side to move.
    pub turn: Color,
    /// The halfmove clock.
    pub halfmoves: u8,
    /// Result from White's side, 0 to 1.
    pub result: f32,
    /// Score of the dataset in centipawns from White's side.
    pub score: Option<i32>,
    /// Number of its game.
    pub game: u64,
}

impl Case {
    fn position(&self) -> Place {
        Place { board: self.board, turn: self.turn, halfmoves: self.halfmoves }
    }
}

#[derive(Debug, Clone)]
struct Evaluated {
    case: Case,
    board: Board,
    eval: i32,
    expected: f64,
}

impl Evaluated {
    /// Result minus expected result for the side to move.
    fn residual(&self) -> f64 {
        let white = f64::from(self.case.result) - self.expected;
        self.case.turn.fold_wb(white, -white)
    }

    fn fen(&self) -> String {
        let position = self.case.board.unpack(self.case.turn, NO_EP, self.case.halfmoves.into(), 1);
        position.map_or_else(String::new, |p| Fen::from_position(&p, EnPassantMode::Legal).to_string())
    }
}

/// Values of an evaluation on positions and moves, compared with results and scores.
#[derive(Debug, Clone)]
pub struct EvaluationReport {
    evaluated: Vec<Evaluated>,
    /// Values before and after moves.
    pub(crate) moves: MoveValues,
    /// K of the sigmoid, σ(K·s/400).
    pub k: f64,
    /// Tests whether K was fitted to these positions.
    pub fitted: bool,
    /// Description of the positions.
    pub what: String,
}

/// Evaluates positions and moves on all threads, without illegal positions; fits K unless it is given.
pub fn evaluate(
    cases: &[Case],
    moves: &[PlayedMove],
    evaluation: &Evaluation,
    k: Option<f64>,
    what: &str,
) -> Result<EvaluationReport> {
    let places: Vec<Place> = cases.iter().map(Case::position).collect();
    let evals: Vec<(Case, Board, i32)> = (cases.iter().zip(values(&places, evaluation)))
        .filter_map(|(case, value)| value.map(|(board, eval)| (*case, board, case.turn.fold_wb(eval, -eval))))
        .collect();
    let fitted = k.is_none();
    let k = match k {
        Some(k) => k,
        None => {
            let pairs: Vec<(f32, f32)> =
                evals.iter().map(|(case, _, eval)| (*eval as f32, case.result)).collect();
            fit_k(&pairs)?.k
        }
    };
    let evaluated = evals.into_iter().map(|(case, board, eval)| {
        let expected = expected_score(f64::from(eval), k);
        Evaluated { case, board, eval, expected }
    });
    let evaluated = evaluated.collect();
    Ok(EvaluationReport {
        evaluated,
        moves: MoveValues::new(moves, evaluation),
        k,
        fitted,
        what: what.into(),
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: u64,
    residuals: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, residual: f64) {
        self.count += 1;
        self.residuals += residual;
        self.squares += residual * residual;
    }

    fn mean(&self) -> f64 {
        self.residuals / self.count as f64
    }

    fn loss(&self) -> f64 {
        self.squares / self.count as f64
    }
}

impl EvaluationReport {
    /// Number of positions.
    pub(crate) fn positions(&self) -> u64 {
        self.evaluated.len() as u64
    }

    /// Adds the measures to a section.
    pub(crate) fn measures(&self, section: &mut Section) {
        section.measure("positions", "positions evaluation", self.positions());
        section.measure("loss", "squared error on them", Cell::number(self.loss(), 7));
        self.moves.measures(section);
    }

    /// Mean squared difference between result and expected result.
    pub(crate) fn loss(&self) -> f64 {
        let mut sums = Sums::default();
        self.evaluated.iter().for_each(|seen| sums.add(seen.residual()));
        sums.loss()
    }

    fn by(&self, key: impl Fn(&Board) -> usize) -> BTreeMap<usize, Sums> {
        let mut groups: BTreeMap<usize, Sums> = BTreeMap::new();
        for seen in &self.evaluated {
            groups.entry(key(&seen.board)).or_default().add(seen.residual());
        }
        groups
    }

    /// Draws residuals and errors by phase.
    pub(crate) fn by_phase(&self) -> Vec<Figure> {
        let groups = self.by(|board| phase(board) as usize);
        let points = |value: fn(&Sums) -> f64| -> Vec<(f64, f64)> {
            groups.iter().map(|(phase, sums)| (*phase as f64, value(sums))).collect()
        };
        let x = format!("phase: 0 pawns alone, {FULL_PHASE} all pieces");
        let error = |sums: &Sums| (sums.loss() / sums.count as f64).sqrt();
        let means = points(Sums::mean);
        let band: Vec<(f64, f64, f64)> = (groups.iter())
            .map(|(phase, sums)| (*phase as f64, sums.mean() - error(sums), sums.mean() + error(sums)))
            .collect();
        let ends = band.iter().flat_map(|(x, low, high)| [(*x, *low), (*x, *high)]);
        let mut curves = Curves::around(&x, "result − expected", ends).of_counts().line("", BLUE, means);
        curves.bands.push(Band { colour: BLUE, points: band });
        let losses = points(Sums::loss);
        let loss =
            Curves::around(&x, "squared error", losses.iter().copied()).of_counts().line("", ORANGE, losses);
        let mut data = Table::new(&["phase", "positions", "mean residual", "mean squared error"]);
        for (phase, sums) in &groups {
            let numbers = [Cell::exact(sums.mean()), Cell::exact(sums.loss())];
            data.row([Cell::Count(*phase as u64), Cell::Count(sums.count)].into_iter().chain(numbers));
        }
        let signed = "Mean of result minus expected result for the side to move, with a standard error that takes positions as independent. Above 0 the evaluation is too low.";
        let squared = "Mean squared difference between result and expected result.";
        vec![
            Figure::new("residuals", "Residuals by phase", signed, Drawing::Curves(curves))
                .with_data(data.clone()),
            Figure::new("errors", "Error by phase", squared, Drawing::Curves(loss)).with_data(data),
        ]
    }

    /// Draws errors by a group of positions, such as king buckets.
    pub(crate) fn by_group(
        &self,
        id: &str,
        title: &str,
        name: &str,
        key: impl Fn(&Board) -> usize,
    ) -> Figure {
        let groups = self.by(key);
        let points: Vec<(f64, f64)> =
            groups.iter().map(|(group, sums)| (*group as f64, sums.loss())).collect();
        let curves = Curves::around(name, "squared error", points.iter().copied()).of_counts();
        let curves = curves.line("", ORANGE, points.clone()).dots("", ORANGE, points);
        let mut data = Table::new(&[name, "positions", "mean squared error"]);
        for (group, sums) in &groups {
            data.row([Cell::Count(*group as u64), Cell::Count(sums.count), Cell::exact(sums.loss())]);
        }
        let caption = "Mean squared difference between the game's result and the expected result.";
        Figure::new(id, title, caption, Drawing::Curves(curves)).with_data(data)
    }

    /// Draws mean results by evaluation: the calibration.
    pub(crate) fn against_results(&self) -> Figure {
        const REACH: i32 = 1_000;
        let mut sums: BTreeMap<i32, (u64, f64)> = BTreeMap::new();
        for seen in &self.evaluated {
            if seen.eval.abs() < REACH + WIDTH / 2 {
                let sum = sums.entry((seen.eval + WIDTH / 2).div_euclid(WIDTH) * WIDTH).or_default();
                *sum = (sum.0 + 1, sum.1 + f64::from(seen.case.result));
            }
        }
        let means: Vec<(f64, f64)> =
            sums.iter().map(|(cp, (n, sum))| (f64::from(*cp), sum / *n as f64)).collect();
        let reach = f64::from(REACH);
        let expected =
            (-100..=100).map(|i| f64::from(i) * reach / 100.0).map(|cp| (cp, expected_score(cp, self.k)));
        let axes =
            Axes::new("", "evaluation, centipawns from White's side", "result", -reach..reach, 0.0..1.0);
        let curves = Curves::within(axes).line("expected", ORANGE, expected.collect());
        let curves = curves.dots("mean result", BLUE, means);
        let mut data = Table::new(&["evaluation", "positions", "mean result", "expected"]);
        for (cp, (n, sum)) in sums {
            let cp = f64::from(cp);
            let numbers = [sum / n as f64, expected_score(cp, self.k)].map(Cell::exact);
            data.row([Cell::exact(cp), Cell::Count(n)].into_iter().chain(numbers));
        }
        let how = if self.fitted { "fitted to these positions" } else { "that of the run" };
        let caption = format!("Each dot is {WIDTH} centipawns wide. K = {:.4}, {how}.", self.k);
        Figure::new("calibration", "Evaluation against results", &caption, Drawing::Curves(curves))
            .with_data(data)
    }

    /// Draws the evaluation against the dataset's scores; `None` without scores.
    pub(crate) fn against_scores(&self) -> Option<Figure> {
        let score = |seen: &Evaluated| seen.case.score.filter(|score| !is_mate(*score));
        let pairs = self.evaluated.iter().filter_map(|seen| Some((score(seen)?, seen.eval)));
        let caption = format!(
            "Positions by the score in the dataset and by the evaluation, {WIDTH} centipawns each; the darker, the more (logarithm)."
        );
        let labels = Labels {
            id: "scores",
            title: "Evaluation against score",
            caption: &caption,
            x: "score, centipawns from White's side",
            y: "evaluation, centipawns",
            mean: "mean evaluation",
            table: ["score from", "positions"],
        };
        against::figure(pairs, &labels)
    }

    /// The positions with the largest residuals, at most one per game, as diagrams and as a table.
    pub(crate) fn worst(&self, number: usize) -> Part {
        let mut of_game: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, seen) in self.evaluated.iter().enumerate() {
            let best = of_game.entry(seen.case.game).or_insert(index);
            if seen.residual().abs() > self.evaluated[*best].residual().abs() {
                *best = index;
            }
        }
        let mut order: Vec<usize> = of_game.into_values().collect();
        order.sort_by(|a, b| {
            let [a_size, b_size] = [a, b].map(|i| self.evaluated[*i].residual().abs());
            b_size.total_cmp(&a_size).then(a.cmp(b))
        });
        let mut known = HashSet::new();
        order.retain(|i| known.insert((self.evaluated[*i].case.board.0, self.evaluated[*i].case.turn)));
        let mut part = Part::new("Most wrong");
        part.say("The positions whose results are furthest from what the evaluation expects, at most one of a game.");
        let mut table = Table::new(&["", "FEN", "evaluation", "expected", "result"]);
        for (place, index) in order.into_iter().take(number).enumerate() {
            let seen = &self.evaluated[index];
            let fen = seen.fen();
            let (eval, expected) = (f64::from(seen.eval) / 100.0, seen.expected);
            let result = f64::from(seen.case.result);
            let word = match result.partial_cmp(&0.5) {
                Some(Ordering::Greater) => "White won",
                Some(Ordering::Less) => "Black won",
                _ => "drawn",
            };
            let caption = format!("{eval:+.2} for White, expected {expected:.3}; {word}. {fen}");
            let drawing = Drawing::Diagram(Diagram { board: seen.board.clone(), turn: seen.case.turn });
            let (id, title) = (format!("wrong-{}", place + 1), (place + 1).to_string());
            part.add(Figure::new(&id, &title, &caption, drawing));
            let numbers = [(f64::from(seen.eval), 0), (expected, 4), (result, 2)];
            let numbers = numbers.map(|(value, decimals)| Cell::number(value, decimals));
            table.row([Cell::Count(place as u64 + 1), Cell::text(fen)].into_iter().chain(numbers));
        }
        if table.is_empty() {
            return Part::new("Most wrong");
        }
        part.table(table);
        part
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use patzer_chess::fen;
    use patzer_eval::hce::Weights;
    use shakmaty::Position;

    fn case(text: &str, result: f32, score: Option<i32>, game: u64) -> Case {
        let position = fen::position(text, false).unwrap();
        Case { board: PackedBoard::pack(&position), turn: position.turn(), halfmoves: 0, result, score, game }
    }

    /// Material alone, K = 1: a rook is 500 centipawns.
    fn evaluation() -> EvaluationReport {
        let cases = [
            case("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0.0, Some(480), 1),
            case("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", 0.0, None, 1),
            case("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0.0, None, 2),
            case("r3k3/8/8/8/8/8/8/4K3 b - - 0 1", 0.5, Some(-20), 3),
            case("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 0.5, None, 4),
        ];
        evaluate(&cases, &[], &Evaluation::Hce(Arc::new(Weights::untuned())), Some(1.0), "x").unwrap()
    }

    #[test]
    fn residuals_are_for_the_side_to_move() {
        let evaluation = evaluation();
        let won = 1.0 / (1.0 + (-1.25f64).exp());
        let residuals: Vec<f64> = evaluation.evaluated.iter().map(Evaluated::residual).collect();
        for (found, expected) in residuals.iter().zip([-won, won, -won, 0.5 - won, 0.0]) {
            assert!((found - expected).abs() < 1e-9, "{residuals:?}");
        }
        let mean = (3.0 * won * won + (0.5 - won).powi(2)) / 5.0;
        assert!((evaluation.loss() - mean).abs() < 1e-9);
        // Rooks count 2 in the phase.
        let phases = &evaluation.by_phase()[0].data.rows;
        assert_eq!(phases.iter().map(|row| row[0].value()).collect::<Vec<_>>(), [Some(0.0), Some(2.0)]);
        assert_eq!(phases[1][1], Cell::Count(4));
        let pieces = evaluation.by_group("p", "p", "p", |board| board.occupied().count());
        assert_eq!(pieces.data.rows[0][1], Cell::Count(1));
    }

    #[test]
    fn the_worst_positions_are_from_different_games_and_differ() {
        let part = evaluation().worst(9);
        let Some(crate::section::Item::Table(table)) = part.items.last() else { panic!() };
        let rows = &table.rows;
        let fens: Vec<String> = rows.iter().map(|row| row[1].plain()).collect();
        // Game 2 has the board of game 1.
        assert_eq!(fens[0], "4k3/8/8/8/8/8/8/R3K3 w - - 0 1");
        assert_eq!(fens[1], "r3k3/8/8/8/8/8/8/4K3 b - - 0 1");
        assert_eq!(fens.len(), 3);
    }

    #[test]
    fn only_positions_with_scores_are_drawn_against_them() {
        let figure = evaluation().against_scores().unwrap();
        let rows: Vec<Vec<f64>> =
            figure.data.rows.iter().map(|row| row.iter().filter_map(Cell::value).collect()).collect();
        assert_eq!(rows, [vec![-50.0, 1.0, -500.0], vec![450.0, 1.0, 500.0]]);
        let mut none = evaluation();
        none.evaluated.iter_mut().for_each(|seen| seen.case.score = None);
        assert!(none.against_scores().is_none());
    }
}
