//! Scripted and pseudo-random players for tests.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::{Control, MoveReply, NoMove, Player, PlayerError, Remarks, SearchInfo, TimeSettings, Turn};
use patzer_chess::rng::mix;
use patzer_chess::score::Score;

pub const TIME: TimeSettings = TimeSettings {
    control: Control { time: None, nodes: Some(1), soft_nodes: None, depth: None },
    margin: Duration::ZERO,
};

/// Plays a list of UCI moves, both colours' moves in one list, with a constant score and time.
pub struct Scripted {
    pub moves: Vec<String>,
    pub score: Score,
    pub time: Duration,
}

impl Scripted {
    pub fn new(moves: &str) -> Scripted {
        let moves = moves.split_whitespace().map(String::from).collect();
        Scripted { moves, score: 100, time: Duration::ZERO }
    }
}

impl Player for Scripted {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let position = turn.line.position();
        let best = self.moves.get(turn.line.moves().len()).map(|text| {
            let uci: UciMove = text.parse().unwrap();
            // A move legal only in the start position serves as an illegal move here.
            uci.to_move(position).or_else(|_| uci.to_move(&Chess::default())).unwrap()
        });
        let score = position.turn().fold_wb(self.score, -self.score);
        let info = SearchInfo { score: Some(score), depth: 1, nodes: 1, ..SearchInfo::default() };
        Ok(MoveReply {
            best: best.ok_or_else(|| NoMove("nothing".into())),
            info,
            time: self.time,
            remarks: Remarks::default(),
        })
    }
}

pub struct Hashing(pub u64);

fn material(position: &Chess) -> Score {
    let side = |color| {
        let pieces = position.board().material_side(color);
        let [p, n, b, r, q] =
            [pieces.pawn, pieces.knight, pieces.bishop, pieces.rook, pieces.queen].map(Score::from);
        100 * p + 300 * (n + b) + 500 * r + 900 * q
    };
    side(position.turn()) - side(!position.turn())
}

impl Player for Hashing {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let (position, moves) = (turn.line.position(), turn.legal);
        // Seeds from 100 on prefer captures: the stronger players.
        let at = mix(self.0, turn.line.key()) as usize % moves.len();
        let best = if self.0 >= 100 {
            let mut order: Vec<_> = moves.iter().copied().collect();
            order.rotate_left(at);
            order.into_iter().max_by_key(|&m| m.capture().map_or(0, |role| role as i32))
        } else {
            Some(moves[at])
        };
        let (score, nodes) = (Some(material(position)), moves.len() as u64);
        let info = SearchInfo { score, depth: 1, nodes, ..SearchInfo::default() };
        Ok(MoveReply {
            best: best.ok_or_else(|| NoMove("nothing".into())),
            info,
            time: Duration::ZERO,
            remarks: Remarks::default(),
        })
    }
}
