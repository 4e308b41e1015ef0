//! Adjudication arguments, common to the commands that play games.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use patzer_io::error::Result;
use patzer_match::{Adjudication, DrawRule, ResignRule, RuleSet, Rules, Syzygy};

/// Moves of a game unless it is to be played to its end.
const MAX_MOVES: u32 = 200;

/// Rules that end games early.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Adjudication")]
pub struct AdjudicationArgs {
    /// Draw after AFTER moves when both have scored within CENTIPAWNS of zero for MOVES moves
    #[arg(long, value_name = "AFTER,MOVES,CENTIPAWNS", default_value = "40,8,10")]
    draw: DrawRule,

    /// Win when both have seen the same side CENTIPAWNS ahead for MOVES moves
    #[arg(long, value_name = "MOVES,CENTIPAWNS", default_value = "4,600")]
    resign: ResignRule,

    /// Let the losing side's score alone decide --resign
    #[arg(long, hide_short_help = true)]
    resign_by_loser: bool,

    /// Draw after N moves of the game, the opening not counted [default: 200; none with --no-adjudication]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: Option<u32>,

    /// Folder of Syzygy tables that decide endgames; WDL tables alone do so after captures and pawn moves, DTZ tables
    /// always
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "patzer_io::path_text")]
    tb: Option<PathBuf>,

    /// Probe tablebases with at most N pieces [default: largest available]
    #[arg(long, hide_short_help = true, value_name = "N", requires = "tb", value_parser = clap::value_parser!(u32).range(3..=7))]
    tb_pieces: Option<u32>,

    /// A win by the tables is a win even if the fifty-move rule makes it a draw
    #[arg(long, hide_short_help = true, requires = "tb")]
    tb_ignore_50: bool,

    /// Play every game to its end by the rules of chess, or to --max-moves
    #[arg(long, hide_short_help = true, conflicts_with_all = ["draw", "resign", "resign_by_loser", "tb"])]
    no_adjudication: bool,
}

impl AdjudicationArgs {
    /// Rules of all games; `recover` as in [`Rules::recover`].
    pub fn rules(&self, recover: bool) -> Result<Rules> {
        let ends_early = !self.no_adjudication;
        let adjudication = Adjudication {
            draw: ends_early.then_some(self.draw),
            resign: ends_early.then_some(self.resign),
            loser_resigns: self.resign_by_loser,
            max_moves: self.max_moves.or(ends_early.then_some(MAX_MOVES)),
            rule_set: RuleSet::Patzer,
        };
        let load = |folder: &PathBuf| Syzygy::load(folder, self.tb_pieces, self.tb_ignore_50).map(Arc::new);
        Ok(Rules { adjudication, recover, syzygy: self.tb.as_ref().map(load).transpose()? })
    }
}
