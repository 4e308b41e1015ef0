//! The `position` command, extended move by move; short history starts at the last capture or pawn move.

use std::io::Write;

use shakmaty::{CastlingMode, Chess, Move, Position};

use super::parse::push_move;
use patzer_chess::{Line, fen};

/// `position … moves …` up to the last update.
pub struct PositionCommand {
    pub text: Vec<u8>,
    /// Moves of the game covered; `None` before the first update.
    moves: Option<usize>,
    /// Position reached; tracked only with short history.
    position: Option<Chess>,
    some: bool,
}

impl PositionCommand {
    /// A command that with `short` drops the moves before the last capture or pawn move.
    pub fn new(short: bool) -> PositionCommand {
        PositionCommand { text: Vec::new(), moves: None, position: short.then(Chess::default), some: false }
    }

    pub fn reset(&mut self) {
        self.moves = None;
    }

    /// Extends the command to the end of a line; the caller may append, and truncates it again.
    pub fn update(&mut self, line: &Line) -> &mut Vec<u8> {
        let mut position_command = match self.moves {
            Some(position_command) if position_command <= line.moves().len() => position_command,
            _ => {
                self.begin(line.start());
                0
            }
        };
        let castling = line.start().castles().mode();
        for &m in &line.moves()[position_command..] {
            position_command += 1;
            if let Some(position) = &mut self.position {
                position.play_unchecked(m);
                if position.halfmoves() == 0 {
                    let position = position.clone();
                    self.begin(&position);
                    continue;
                }
            }
            self.text.extend_from_slice(if self.some { b" " } else { b" moves " });
            push_move(&mut self.text, m, castling);
            self.some = true;
        }
        self.moves = Some(position_command);
        &mut self.text
    }

    /// Appends one more move, which is not part of the game; the caller truncates the text again.
    pub fn with(&mut self, m: Move, castling: CastlingMode) -> &mut Vec<u8> {
        self.text.extend_from_slice(if self.some { b" " } else { b" moves " });
        push_move(&mut self.text, m, castling);
        &mut self.text
    }

    fn begin(&mut self, start: &Chess) {
        self.text.clear();
        self.some = false;
        let _ = write!(self.text, "position {}", start_text(start));
        if let Some(position) = &mut self.position {
            position.clone_from(start);
        }
    }
}

/// `startpos`, or `fen` with the position; counters of another game make it another position.
pub fn start_text(start: &Chess) -> String {
    let counters = (start.halfmoves(), start.fullmoves().get());
    if *start == Chess::default() && counters == (0, 1) {
        return "startpos".into();
    }
    format!("fen {}", engine_fen(start))
}

/// FEN for an engine: castling rights of Chess960 by the rooks' files, as fastchess and cutechess-cli write them, since
/// not every engine reads `KQkq` there.
pub fn engine_fen(position: &Chess) -> String {
    match position.castles().mode() {
        CastlingMode::Standard => fen::text(position),
        CastlingMode::Chess960 => fen::shredder(position),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;
    use shakmaty::uci::UciMove;

    fn commands(moves: &str, short: bool) -> Vec<String> {
        let mut position_command = PositionCommand::new(short);
        let mut line = Line::new(Chess::default());
        let mut commands = Vec::new();
        for (ply, text) in moves.split(' ').enumerate() {
            if ply % 2 == 0 {
                commands.push(String::from_utf8(position_command.update(&line).clone()).unwrap());
            }
            let m = text.parse::<UciMove>().unwrap().to_move(line.position()).unwrap();
            line.play(m);
        }
        commands
    }

    #[test]
    fn engines_hear_all_moves_or_those_since_the_last_that_cannot_be_taken_back() {
        let game = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1 g8f6";
        let all = commands(game, false);
        assert_eq!(all[0], "position startpos");
        assert_eq!(all[4], "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6");
        let short = commands(game, true);
        assert_eq!(short[0], "position startpos");
        assert_eq!(
            short[2],
            "position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 moves g1f3 b8c6"
        );
        assert_eq!(short[4], "position fen r1bqkbnr/1pp2ppp/p1p5/4p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 5");
    }

    #[test]
    fn castling_rights_of_chess960_are_the_files_of_the_rooks() {
        for (read, sent) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9", "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 3 9"),
            ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBb - 0 1", "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBb - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 b - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ] {
            let position = patzer_chess::fen::position(read, true).unwrap();
            assert_eq!(start_text(&position), format!("fen {sent}"));
        }
        let standard = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9";
        assert_eq!(
            start_text(&patzer_chess::fen::position(standard, false).unwrap()),
            format!("fen {standard}")
        );
    }

    #[test]
    fn a_start_position_with_other_counters_is_sent_as_fen() {
        for fen in
            ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 97 60", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]
        {
            let mut position_command = PositionCommand::new(false);
            let line = Line::new(patzer_chess::fen::position(fen, false).unwrap());
            let text = String::from_utf8(position_command.update(&line).clone()).unwrap();
            assert_eq!(text, format!("position fen {fen}"));
        }
    }

    #[test]
    fn both_ways_of_telling_lead_to_the_same_line_of_play() {
        let mut rng = Rng::new(7);
        let mut position_command = [PositionCommand::new(false), PositionCommand::new(true)];
        for _ in 0..20 {
            position_command.iter_mut().for_each(PositionCommand::reset);
            let mut line = Line::new(Chess::default());
            for _ in 0..120 {
                let moves = line.position().legal_moves();
                if moves.is_empty() {
                    break;
                }
                line.play(moves[rng.below(moves.len())]);
                if line.moves().len().is_multiple_of(2) {
                    for position_command in &mut position_command {
                        let heard = heard(std::str::from_utf8(position_command.update(&line)).unwrap());
                        assert_eq!(heard.position(), line.position());
                        assert_eq!(heard.repetitions(), line.repetitions());
                    }
                }
            }
        }
    }

    fn heard(command: &str) -> Line {
        let (setup, moves) = command.split_once(" moves ").unwrap_or((command, ""));
        let start = match setup.strip_prefix("position fen ") {
            Some(fen) => patzer_chess::fen::position(fen, false).unwrap(),
            None => Chess::default(),
        };
        let mut line = Line::new(start);
        for text in moves.split_whitespace() {
            line.play(text.parse::<UciMove>().unwrap().to_move(line.position()).unwrap());
        }
        line
    }
}
