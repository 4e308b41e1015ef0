//! Writes games as PGN in the format of fastchess and cutechess-cli.
//!
//! Every move carries a comment `{+0.35/12 0.050s, n=5000, nps=100000}`: score from the mover's side in
//! pawns, or `+M5` for mate in five plies; depth, time, nodes. Where only nodes or depth limit in-process
//! players, times are 0, so that equal games are equal bytes.

mod comment;
mod eco;
mod movetext;
mod style;

use shakmaty::fen::Epd;
use shakmaty::{Chess, Color, EnPassantMode, Position};

use crate::openings::Opening;
use crate::{Control, Game, PairGame, Reason, TimeSettings};
use patzer_io::Shard;
use patzer_io::date;
use patzer_pgn::write::{write_start, write_tag};

pub use self::movetext::write_game;
pub use self::style::{MoveField, Notation, PgnStyle};

#[derive(Debug, Clone)]
pub struct Header {
    pub event: String,
    pub names: Vec<String>,
    /// Names from `id name`; `None` for players in this process.
    pub engines: Vec<Option<String>>,
    pub controls: Vec<Control>,
    pub times: bool,
    /// `None` for reproducible games.
    pub date: Option<String>,
    pub style: PgnStyle,
    /// Shard that the pairs belong to; their rounds count as in the whole.
    pub shard: Shard,
}

impl Header {
    pub fn new(event: &str, names: &[String], time_settings: &[TimeSettings]) -> Header {
        let controls: Vec<Control> =
            time_settings.iter().map(|time_settings| time_settings.control).collect();
        Header {
            event: event.to_string(),
            names: names.to_vec(),
            engines: vec![None; names.len()],
            times: !controls.iter().all(Control::deterministic),
            controls,
            date: None,
            style: PgnStyle::default(),
            shard: Shard::WHOLE,
        }
    }
}

/// Writes a game of a pair with an empty line after it and with the moves of its opening, if they are known.
pub fn write_pair_game(out: &mut String, game: &PairGame, header: &Header, opening: Option<&Opening>) {
    let &PairGame { index, pairing, number, game: played } = game;
    let index = header.shard.number(index);
    let round = match header.style.round_by_game {
        true => format!("{}.{}", index + 1, number + 1),
        // A round ends with its opening.
        false if pairing.openings[0] != pairing.openings[1] => (2 * index + number + 1).to_string(),
        false => (index + 1).to_string(),
    };
    write_game(out, played, header, game.seats(), &round, opening);
}

fn write_tags(
    out: &mut String,
    game: &Game,
    header: &Header,
    players: [usize; 2],
    round: &str,
    opening: Option<&Opening>,
) {
    let start = opening.map_or(&game.start, |opening| &opening.start);
    let mut tag = |name: &str, value: &str| write_tag(out, name, value);
    let [white, black] = players;
    tag("Event", &header.event);
    let PgnStyle { site, minimal, .. } = &header.style;
    tag("Site", site);
    tag("Date", header.date.as_deref().unwrap_or("????.??.??"));
    tag("Round", round);
    tag("White", &header.names[white]);
    tag("Black", &header.names[black]);
    tag("Result", game.result());
    for (name, player) in [("EngineWhiteName", white), ("EngineBlackName", black)] {
        if let Some(engine) = header.engines[player].as_ref().filter(|_| !minimal) {
            tag(name, engine);
        }
    }
    write_start(out, start, false);
    if *minimal {
        out.push('\n');
        return;
    }
    let mut tag = |name: &str, value: &str| write_tag(out, name, value);
    if let Some([begin, end]) = game.clock {
        tag("GameDuration", &date::clock(end.duration_since(begin).unwrap_or_default()));
        tag("GameStartTime", &date::moment(begin));
        tag("GameEndTime", &date::moment(end));
    }
    let before = opening.map_or(0, |opening| opening.moves.len());
    tag("PlyCount", &(before + game.moves.len()).to_string());
    tag("Termination", termination(game.reason));
    let [ours, theirs] = players.map(|player| header.controls[player]);
    for (name, of) in [
        ("TimeControl", Control::tag as fn(&Control) -> String),
        // Nodes and depth have no tag in the standard.
        ("Limit", |control| if control.deterministic() { control.to_string() } else { String::new() }),
    ] {
        let (w, b) = (of(&ours), of(&theirs));
        let sides = if w == b { vec![("", w)] } else { vec![("White", w), ("Black", b)] };
        for (side, value) in sides.iter().filter(|(_, value)| !value.is_empty()) {
            tag(&format!("{side}{name}"), value);
        }
    }
    if let Some(opening) = eco::opening_of(game, opening).filter(|_| header.style.openings) {
        tag("ECO", &opening.eco);
        tag("Opening", &opening.name);
    }
    out.push('\n');
}

fn termination(reason: Reason) -> &'static str {
    match reason {
        Reason::TimeForfeit => "time forfeit",
        Reason::IllegalMove => "illegal move",
        Reason::Disconnect | Reason::Stall => "abandoned",
        Reason::AdjudicatedDraw | Reason::AdjudicatedWin | Reason::MoveLimit | Reason::Tablebase => {
            "adjudication"
        }
        Reason::Checkmate
        | Reason::Stalemate
        | Reason::Repetition
        | Reason::FiftyMoves
        | Reason::InsufficientMaterial => "normal",
    }
}

/// Final comment in fastchess's words: `White mates`, `Draw by 3-fold repetition`.
pub fn how_it_ended(game: &Game) -> String {
    let mut position = game.start.clone();
    game.moves.iter().for_each(|played| position.play_unchecked(played.m));
    ending(game, &position)
}

fn ending(game: &Game, position: &Chess) -> String {
    let name = |color: Color| color.fold_wb("White", "Black");
    // The player that fails is to move, or failed before its first move.
    let loser = name(game.winner.map_or(position.turn(), |winner| !winner));
    match (game.reason, game.winner) {
        (Reason::Checkmate, _) => format!("{} mates", name(!position.turn())),
        (Reason::Stalemate, _) => "Draw by stalemate".into(),
        (Reason::Repetition, _) => "Draw by 3-fold repetition".into(),
        (Reason::FiftyMoves, _) => "Draw by fifty moves rule".into(),
        (Reason::InsufficientMaterial, _) => "Draw by insufficient mating material".into(),
        (Reason::TimeForfeit, Some(_)) => match &game.note {
            Some(overrun) => format!("{loser} loses on time ({overrun})"),
            None => format!("{loser} loses on time"),
        },
        // In the words of cutechess-cli, whose rule it is.
        (Reason::TimeForfeit, None) if game.note.is_none() => "Draw by timeout".into(),
        (Reason::TimeForfeit, None) => {
            format!("{loser} is out of time, and {} cannot mate", name(!position.turn()))
        }
        (Reason::IllegalMove, _) => match &game.note {
            // The text comes from a program: nothing in it may end the comment.
            Some(said) => format!("{loser} makes an illegal move: {}", said.replace(['{', '}'], "?")),
            None => format!("{loser} makes an illegal move"),
        },
        (Reason::Disconnect, _) => format!("{loser} disconnects"),
        (Reason::Stall, _) => format!("{loser}'s connection stalls"),
        (Reason::Tablebase, None) => "Draw by adjudication: SyzygyTB".into(),
        (Reason::Tablebase, Some(winner)) => format!("{} wins by adjudication: SyzygyTB", name(winner)),
        (Reason::MoveLimit, _) => "Draw by adjudication: move limit".into(),
        (Reason::AdjudicatedDraw | Reason::AdjudicatedWin, None) => "Draw by adjudication".into(),
        (Reason::AdjudicatedDraw | Reason::AdjudicatedWin, Some(winner)) => {
            format!("{} wins by adjudication", name(winner))
        }
    }
}

/// Final position of a game as a line of EPD.
pub fn final_epd(game: &Game) -> String {
    let mut position = game.start.clone();
    game.moves.iter().for_each(|played| position.play_unchecked(played.m));
    let epd = Epd::from_position(&position, EnPassantMode::Legal);
    format!("{epd} hmvc {}; fmvn {};", position.halfmoves(), position.fullmoves())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlayedMove, SearchInfo};
    use patzer_chess::fen;
    use patzer_chess::score::Score;
    use shakmaty::san::San;
    use std::time::Duration;

    fn game(start: Chess, moves: &[(&str, Score)], winner: Option<Color>, reason: Reason) -> Game {
        let mut position = start.clone();
        let moves = moves.iter().map(|&(san, score)| {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            let score = Some(score);
            let info = SearchInfo {
                score,
                depth: 12,
                seldepth: 0,
                nodes: 5000,
                nps: 100_000,
                ..SearchInfo::default()
            };
            PlayedMove { m, info, time: Duration::from_millis(50), left: None }
        });
        let moves = moves.collect();
        Game { start, moves, winner, reason, note: None, remarks: Vec::new(), clock: None }
    }

    fn text(game: &Game, controls: [Control; 2]) -> String {
        let names = ["d.nnue".to_string(), "a \"b\" \\c".to_string()];
        let time_settings = controls.map(|control| TimeSettings { control, margin: Duration::ZERO });
        let mut header = Header::new("test", &names, &time_settings);
        header.style.openings = true;
        let mut out = String::new();
        write_game(&mut out, game, &header, [1, 0], "1.2", None);
        out
    }

    #[test]
    fn a_game_is_written_as_fastchess_writes_it() {
        let moves = [("f3", 35), ("e5", -7), ("g4", -31_998), ("Qh4", 31_999)];
        let game = game(Chess::default(), &moves, Some(Color::Black), Reason::Checkmate);
        let text = text(&game, [Control::nodes(5000); 2]);
        insta::assert_snapshot!(text, @r#"
        [Event "test"]
        [Site "?"]
        [Date "????.??.??"]
        [Round "1.2"]
        [White "a \"b\" \\c"]
        [Black "d.nnue"]
        [Result "0-1"]
        [PlyCount "4"]
        [Termination "normal"]
        [TimeControl "-"]
        [Limit "5000 nodes a move"]
        [ECO "A00"]
        [Opening "Barnes Opening: Fool's Mate"]

        1. f3 {+0.35/12 0.000s, n=5000} e5 {-0.07/12 0.000s, n=5000} 2. g4
        {-M2/12 0.000s, n=5000} Qh4# {+M1/12 0.000s, n=5000, Black mates} 0-1
        "#);
    }

    #[test]
    fn black_to_move_and_time_are_written() {
        let start = fen::position("4k3/8/8/8/8/8/4R3/4K3 b - - 7 50", false).unwrap();
        let game = game(start, &[("Kd7", -1250)], None, Reason::MoveLimit);
        let text = text(&game, [Control::clock("40/60+0.6".parse().unwrap()); 2]);
        assert!(text.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4R3/4K3 b - - 7 50\"]\n"), "{text}");
        assert!(text.contains("[Termination \"adjudication\"]\n[TimeControl \"40/60+0.6\"]\n\n"), "{text}");
        assert!(text.contains(
            "\n50... Kd7\n{-12.50/12 0.050s, n=5000, nps=100000, Draw by adjudication: move limit} 1/2-1/2\n\n"
        ));
    }

    #[test]
    fn chess960_says_so_and_a_game_without_moves_gives_its_reason() {
        let start = fen::position("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", false).unwrap();
        let game = game(start, &[], Some(Color::Black), Reason::TimeForfeit);
        let text = text(&game, [Control::depth(3); 2]);
        assert!(text.contains("[Variant \"Chess960\"]"), "{text}");
        assert!(text.ends_with("\n\n{White loses on time} 0-1\n\n"), "{text}");
    }

    #[test]
    fn each_side_has_its_own_control_where_they_differ() {
        let game = game(Chess::default(), &[("e4", 30)], None, Reason::AdjudicatedDraw);
        let text = text(&game, [Control::clock("8+0.08".parse().unwrap()), Control::nodes(100)]);
        assert!(text.contains("[WhiteTimeControl \"-\"]\n[BlackTimeControl \"8+0.08\"]\n"), "{text}");
        assert!(text.contains("[WhiteLimit \"100 nodes a move\"]\n[ECO "), "{text}");
    }

    #[test]
    fn checks_and_mates_are_marked_as_the_standard_asks() {
        use shakmaty::san::SanPlus;
        let mut moves = Vec::new();
        let mut position = Chess::default();
        let mut expected = Vec::new();
        for san in ["e4", "f6", "Qh5", "g6", "Qxg6", "hxg6", "Bc4", "Rxh2", "Bf7", "Kxf7", "Rxh2", "Ke8"] {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            expected.push(SanPlus::from_move_and_play_unchecked(&mut position, m).to_string());
            moves.push((san, 0));
        }
        let text = text(&game(Chess::default(), &moves, None, Reason::MoveLimit), [Control::depth(1); 2]);
        assert!(expected.iter().filter(|san| san.ends_with('+')).count() >= 3, "{expected:?}");
        for san in expected {
            assert!(text.split_whitespace().any(|word| word == san), "{san}: {text}");
        }
    }

    #[test]
    fn comments_are_read_as_they_were_meant() {
        let scores = [None, Some(0), Some(-7), Some(1234), Some(31_995), Some(-31_998)];
        let mut header = Header::new("", &[], &[]);
        header.times = true;
        for score in scores {
            let info = SearchInfo { score, depth: 9, nodes: 1, nps: 5, ..SearchInfo::default() };
            let m = Chess::default().legal_moves()[0];
            let played = PlayedMove { m, info, time: Duration::from_millis(1500), left: None };
            let mut text = String::new();
            comment::comment(&mut text, &played, None, &header, shakmaty::CastlingMode::Standard);
            let read = patzer_pgn::Annotation::parse(&text.as_bytes()[1..]);
            let read = read.before(Color::White, &Default::default()).map(|s| (i32::from(s.value), s.depth));
            assert_eq!(read, score.map(|score| (score, Some(9))), "{text}");
        }
    }

    #[test]
    fn the_style_decides_notation_fields_and_tags() {
        use crate::Remarks;
        let start = fen::position("4k3/8/8/8/8/8/4r3/R3K2R w KQ - 0 1", false).unwrap();
        let mut game = game(start, &[("Kxe2", 0), ("Kd7", 0), ("Ra7", 5)], None, Reason::Repetition);
        game.moves[0].left = Some(Duration::from_millis(7400));
        game.moves[0].info.time = Some(Duration::from_millis(52));
        let visits = ["Kxe2", "Kf1"].map(|san| san.parse::<San>().unwrap().to_move(&game.start).unwrap());
        let visits = visits.map(|m| (m, 7)).to_vec();
        let lines = vec!["a \"b\"}".into()];
        let said = Remarks { pv: "e1e2 {".into(), lines, visits, ..Remarks::default() };
        game.remarks = vec![(0, said)];
        let names = ["a", "b"].map(String::from);
        let control = Control::clock("8+0.08".parse().unwrap());
        let mut header = Header::new("e", &names, &[TimeSettings { control, margin: Duration::ZERO }; 2]);
        let text = |header: &Header| {
            let mut out = String::new();
            write_game(&mut out, &game, header, [0, 1], "1", None);
            out.split_once("\n\n").unwrap().1.replace('\n', " ")
        };
        use MoveField::*;
        let fields = vec![Timeleft, Latency, Nodes, Seldepth, Nps, Hashfull, Tbhits, Pv, Visits];
        header.style =
            PgnStyle { notation: Notation::Lan, fields, unsigned_zero: true, ..PgnStyle::default() };
        let first = "1. Ke1xe2 {0.00/12 0.050s, tl=7.400s, latency=-0.002s, n=5000, sd=0, nps=100000, \
                     hashfull=0, tbhits=0, pv=\"e1e2 ?\", visits=\"e1e2:7 e1f1:7\", line=\"a 'b'?\"} Ke8d7 {0.00/12 0.050s, n=5000, sd=0,";
        assert!(text(&header).starts_with(first), "{}", text(&header));
        assert!(text(&header).contains(" 2. Ra1a7+ {+0.05/12"), "{}", text(&header));
        header.style = PgnStyle { notation: Notation::Uci, minimal: true, ..PgnStyle::default() };
        assert_eq!(text(&header), "1. e1e2 e8d7 2. a1a7 1/2-1/2  ");
        assert_eq!(final_epd(&game), "8/R2k4/8/8/8/8/4K3/7R b - - hmvc 2; fmvn 2;");
    }

    #[test]
    fn what_an_engine_said_cannot_break_the_file() {
        let mut game = game(Chess::default(), &[("e4", 30)], Some(Color::White), Reason::IllegalMove);
        game.note = Some("e7}{[x] 1-0".to_string());
        let text = text(&game, [Control::depth(3); 2]);
        assert!(text.ends_with("Black makes an illegal move: e7??[x] 1-0} 1-0\n\n"), "{text}");
        assert_eq!(text.matches('}').count(), 1);
    }
}
