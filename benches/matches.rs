//! Cost of the arena: a game between players who have their moves ready, and its PGN.
//!
//! Everything that is not thinking: legal moves, rules, adjudication, clocks, and the text of the game. Per ply.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::rng::Rng;
use patzer_match::pgn::{self, Header};
use patzer_match::{
    Adjudication, Control, Game, MoveReply, NoMove, Pair, Pairing, Player, PlayerError, Remarks, Rules,
    SWAPPED, SearchInfo, TimeSettings, Turn, play,
};
use shakmaty::{Chess, Move, Position};

/// Plays a known game.
struct Replayed<'a>(&'a [Move]);

impl Player for Replayed<'_> {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let best =
            self.0.get(turn.line.moves().len()).copied().ok_or_else(|| NoMove("the game is over".into()));
        let info = SearchInfo {
            score: Some(35),
            depth: 12,
            seldepth: 20,
            nodes: 5000,
            nps: 1_000_000,
            ..SearchInfo::default()
        };
        Ok(MoveReply { best, info, time: Duration::from_millis(5), remarks: Remarks::default() })
    }
}

/// A game of random moves, until they have no more or there are 200.
fn moves() -> Vec<Move> {
    let (mut position, mut rng, mut moves) = (Chess::default(), Rng::new(3), Vec::new());
    while moves.len() < 200 && position.outcome().is_unknown() && position.halfmoves() < 100 {
        let legal = position.legal_moves();
        let m = legal[rng.below(legal.len())];
        position.play_unchecked(m);
        moves.push(m);
    }
    moves
}

fn arena(c: &mut Criterion) {
    let moves = moves();
    let control = Control::clock("8+0.08".parse().expect("a clock"));
    let time_settings = [TimeSettings { control, margin: Duration::ZERO }; 2];
    let adjudication = Adjudication {
        draw: Some("400,8,1".parse().expect("a rule")),
        resign: Some("4,600".parse().expect("a rule")),
        loser_resigns: false,
        max_moves: Some(moves.len() as u32 / 2),
        ..Adjudication::NONE
    };
    let rules = Rules { adjudication, recover: false, syzygy: None };
    let stop = AtomicBool::new(false);
    let game = || -> Game {
        let (mut white, mut black) = (Replayed(&moves), Replayed(&moves));
        play(
            &Chess::default(),
            0,
            [&mut white, &mut black],
            [&time_settings[0], &time_settings[1]],
            &rules,
            &stop,
        )
        .expect("a game")
    };
    let names = ["one", "two"].map(String::from);
    let header = Header::new("bench", &names, &time_settings);
    let pairing = Pairing { players: [0, 1], colours: SWAPPED, openings: [0, 0] };
    let pair = Pair { index: 0, pairing, games: [game(), game()] };
    let plies = pair.games[0].moves.len() as u64;
    let mut group = c.benchmark_group("arena");
    group.throughput(Throughput::Elements(plies));
    group.bench_function("game", |b| b.iter(&game));
    group.throughput(Throughput::Elements(2 * plies));
    group.bench_function("pgn of a pair", |b| {
        b.iter(|| {
            let mut text = String::new();
            for number in [0, 1] {
                pgn::write_pair_game(&mut text, &pair.game(number), &header, None);
            }
            text
        })
    });
    group.finish();
}

criterion_group!(benches, arena);
criterion_main!(benches);
