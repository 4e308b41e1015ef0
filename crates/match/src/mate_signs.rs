//! Mate scores that contradict each other, with the warning of fastchess.

use shakmaty::Position;

use crate::Game;
use patzer_chess::Line;
use patzer_chess::score::{MATE, is_mate};
use patzer_uci_client::PositionCommand;

/// Warnings of two moves in a row with mate scores by which both players win, or both lose; names of White and Black.
pub fn sign_mismatches(game: &Game, names: [&str; 2]) -> Vec<String> {
    // Moves to the mate, as UCI counts them.
    let mate = |at: usize| {
        let score = game.moves[at].info.score.filter(|score| is_mate(*score))?;
        Some((MATE - score.abs() + 1) / 2 * score.signum())
    };
    let (mut warnings, mut line) = (Vec::new(), Line::new(game.start.clone()));
    for (at, played) in game.moves.iter().enumerate() {
        let by = line.position().turn();
        line.play(played.m);
        let Some((then, now)) = at.checked_sub(1).and_then(mate).zip(mate(at)) else { continue };
        if then.signum() != now.signum() {
            continue;
        }
        let [now_by, then_by] =
            [by, by.other()].map(|color| format!("{} ({color:?})", color.fold_wb(names[0], names[1])));
        let mut command = PositionCommand::new(false);
        let text = String::from_utf8_lossy(command.update(&line)).into_owned();
        let (start, moves) = text.split_once(" moves ").unwrap_or((&text, ""));
        let start = start.trim_start_matches("position ");
        warnings.push(format!(
            "Warning; Sign mismatch in mate scores {then} and {now} from {then_by} and {now_by}\n\
             Position; {start}\nMoves; {moves}"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use shakmaty::Chess;

    use super::*;
    use crate::mock::{Scripted, TIME};
    use crate::{Adjudication, Rules, play};

    #[test]
    fn both_players_cannot_win() {
        // Players score for their own side, the script for White.
        let with = |[white, black]: [i32; 2]| {
            let moves = "f2f3 e7e5 g2g4 d8h4";
            let [mut white, mut black] =
                [white, -black].map(|score| Scripted { score, ..Scripted::new(moves) });
            let rules = Rules { adjudication: Adjudication::NONE, recover: false, syzygy: None };
            let never = AtomicBool::new(false);
            let game =
                play(&Chess::default(), 0, [&mut white, &mut black], [&TIME; 2], &rules, &never).unwrap();
            sign_mismatches(&game, ["A", "B"])
        };
        let found = with([MATE - 3, MATE - 1]);
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[0],
            "Warning; Sign mismatch in mate scores 2 and 1 from A (White) and B (Black)\n\
             Position; startpos\nMoves; f2f3 e7e5"
        );
        assert!(found[1].contains("scores 1 and 2 from B (Black) and A (White)"));
        assert!(with([2 - MATE, 4 - MATE])[0].contains("scores -1 and -2 from"));
        assert!(with([2 - MATE, MATE - 1]).is_empty() && with([300, MATE - 1]).is_empty());
    }
}
