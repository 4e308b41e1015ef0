use super::*;
use std::collections::HashSet;
use std::io::{Cursor, Seek};

fn answers(commands: &str) -> Vec<String> {
    let mut written = tempfile::tempfile().unwrap();
    let input = Cursor::new(commands.as_bytes().to_vec());
    let out = Out::new(written.try_clone().unwrap());
    serve_on(input, out, Initial::embedded(Evaluation::default_hce())).unwrap();
    written.rewind().unwrap();
    BufReader::new(written).lines().map(|line| line.unwrap()).collect()
}

fn best_move(commands: &str) -> String {
    let answers = answers(commands);
    let last = answers.iter().rfind(|line| line.starts_with("bestmove")).unwrap();
    last.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn the_handshake_names_the_engine_and_its_options() {
    let answers = answers("uci\nisready\nquit\n");
    assert!(answers[0].starts_with("id name patzer "));
    for option in [
        "option name Hash type spin default 16 min 1 max 65536",
        "option name Threads type spin default 1 min 1 max 1024",
        "option name EvalFile type string default <embedded>",
        "option name UCI_Chess960 type check default false",
        "option name Move Overhead type spin default 10 min 0 max 5000",
    ] {
        assert!(answers.iter().any(|line| line == option), "{option}");
    }
    assert_eq!(answers[answers.len() - 2..], ["uciok", "readyok"]);
}

#[test]
fn every_declared_option_takes_what_it_declares_and_refuses_the_rest() {
    let answered = answers("uci\n");
    let declared = answered.iter().filter_map(|line| line.strip_prefix("option name "));
    assert_eq!(declared.clone().count(), options::OPTIONS.len());
    for option in declared {
        let (name, rest) = option.split_once(" type ").unwrap();
        let words: Vec<&str> = rest.split(' ').collect();
        let after = |word: &str| words.iter().skip_while(|&&other| other != word).nth(1).copied();
        let number = |word: &str| after(word).unwrap().parse::<i64>().unwrap();
        let text = |value: &str| value.to_owned();
        let (good, bad) = match words[0] {
            // The greatest table and the most threads are too much for a test.
            "spin" => {
                let (min, max) = (number("min"), number("max"));
                (vec![min.to_string(), text(after("default").unwrap())], vec![min - 1, max + 1])
            }
            "check" => (vec![text("true"), text("false")], vec![2]),
            "string" | "button" => (vec![text(after("default").unwrap_or_default())], vec![]),
            "combo" => {
                let vars = words.windows(2).filter(|pair| pair[0] == "var").map(|pair| text(pair[1]));
                (vars.collect(), vec![9])
            }
            kind => panic!("{kind}"),
        };
        let set = |value: String| answers(&format!("setoption name {name} value {value}\nisready\n"));
        for value in good {
            assert_eq!(set(value), ["readyok"], "{option}");
        }
        for value in bad {
            let said = set(value.to_string());
            assert!(said[0].starts_with(&format!("info string {name} takes ")), "{said:?}");
        }
    }
}

#[test]
fn a_mate_in_one_is_found_and_reported_as_one() {
    // A position that waits for a search is set before the next.
    for before in ["", "go infinite\n"] {
        let commands = "position fen 7k/5K2/8/8/8/8/8/6Q1 w - - 0 1\ngo depth 3\n";
        let answers = answers(&format!("{before}{commands}"));
        assert!(answers.iter().any(|line| line.contains(" score mate 1 ")), "{answers:?}");
        let last = answers.last().unwrap();
        assert!(["bestmove g1g7", "bestmove g1h1", "bestmove g1h2"].contains(&last.as_str()), "{last}");
    }
}

#[test]
fn windows_line_ends_spaces_and_capital_garbage_do_no_harm() {
    let answers = answers(
        "  isready  \r\n\r\nfoo bar\r\nsetoption\r\nsetoption name Nonsense value 3\r\nsetoption name hash value x\r\n\
         position fen rubbish\r\nposition startpos moves e2e5\r\nposition\r\ngo depth x\r\ngo depth 1\r\nisready\r\nquit\r\n",
    );
    assert_eq!(answers[0], "readyok");
    let explained = answers.iter().filter(|line| line.starts_with("info string")).count();
    assert!(explained >= 7, "{answers:?}");
    assert!(answers.iter().any(|line| line.starts_with("bestmove")));
}

#[test]
fn playouts_say_what_they_leave_unused() {
    let search = "setoption name Search value mcts\n";
    assert_eq!(answers(search), [""; 0]);
    let tables =
        concat!("setoption name SyzygyPath value ", env!("CARGO_MANIFEST_DIR"), "/../../fixtures/syzygy\n");
    let said = "info string Search mcts probes no tables";
    for both in [[tables, search], [search, tables]] {
        assert!(answers(&both.concat()).iter().any(|line| line == said));
    }
}

#[test]
fn a_finished_game_has_no_best_move() {
    assert_eq!(best_move("position fen 7k/5KQ1/8/8/8/8/8/8 b - - 0 1\ngo depth 5\n"), "(none)");
    assert_eq!(best_move("position fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1\ngo depth 5\n"), "(none)");
    for (fen, score) in [("7k/5KQ1/8/8/8/8/8/8", "mate 0"), ("7k/5K2/6Q1/8/8/8/8/8", "cp 0")] {
        for search in ["alpha-beta", "mcts"] {
            let said = answers(&format!(
                "setoption name Search value {search}\nposition fen {fen} b - - 0 1\ngo depth 5\n"
            ));
            let info = format!("info depth 0 seldepth 0 multipv 1 score {score} nodes 0 ");
            assert!(said[0].starts_with(&info) && !said[0].contains(" pv"), "{said:?}");
        }
    }
}

#[test]
fn castling_is_written_as_the_mode_demands_and_read_in_both_notations() {
    let set = "setoption name UCI_Chess960 value true\n";
    for (set, position, castling) in [
        ("", "R3K2R w KQ", ["e1g1: 1", "e1c1: 1"]),
        (set, "R3K2R w KQ", ["e1h1: 1", "e1a1: 1"]),
        // A position that needs Chess960 castling is written that way in either mode.
        ("", "1R2K1R1 w GB", ["e1g1: 1", "e1b1: 1"]),
    ] {
        let answers = answers(&format!("{set}position fen 4k3/8/8/8/8/8/8/{position} - 0 1\ngo perft 1\n"));
        assert!(castling.iter().all(|line| answers.iter().any(|answer| answer == line)), "{answers:?}");
    }
    for (chess960, castling) in [("false", "e1g1"), ("true", "e1h1"), ("true", "e1g1"), ("false", "e1h1")] {
        let answers = answers(&format!(
            "setoption name UCI_Chess960 value {chess960}\n\
             position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 moves {castling}\nd\n"
        ));
        assert!(answers[0].contains("4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"), "{castling}: {answers:?}");
    }
}

#[test]
fn perft_divides_at_the_root() {
    let answers = answers("position startpos\ngo perft 3\n");
    assert_eq!(answers.iter().filter(|line| line.contains(": ")).count(), 21);
    assert!(answers.contains(&"e2e4: 600".to_owned()));
    assert_eq!(answers.last().unwrap(), "Nodes searched: 8902");
}

#[test]
fn a_search_ends_when_nobody_listens_any_more() {
    let input = Cursor::new(b"go depth 100\n".to_vec());
    // No byte fits.
    serve_on(input, Out::new(Cursor::new([0; 0])), Initial::embedded(Evaluation::default_hce())).unwrap();
}

#[test]
fn every_go_is_answered_once_whatever_comes_between() {
    for (commands, best_moves) in [
        ("go infinite\nisready\nstop\n", 1),
        ("go infinite\nisready\nquit\n", 1),
        ("go infinite\nisready\n", 1),
        ("stop\nstop\ngo depth 2\n", 1),
        ("go infinite\ngo infinite\ngo depth 1\n", 3),
        ("go depth 90\ngo depth 90\nstop\n", 2),
        ("go depth 90\ngo depth 90\nposition startpos\nstop\n", 2),
        ("go infinite\nsetoption name Hash value 2\ngo depth 1\nquit\n", 2),
        ("go depth 3\nucinewgame\nposition startpos moves e2e4\ngo depth 3\n", 2),
        ("go wtime 0 btime 0\ngo movetime 0\ngo nodes 0\ngo depth x\n", 4),
        ("go ponder wtime 0 btime 0\nisready\nponderhit\n", 1),
        ("go ponder wtime 0 btime 0\nisready\nstop\nponderhit\nquit\n", 1),
        ("ponderhit\ngo depth 1\n", 1),
        // The search to be hit still waits for the one before.
        ("go depth 5\ngo ponder depth 2\nponderhit\n", 2),
    ] {
        let answers = answers(commands);
        let found = answers.iter().filter(|line| line.starts_with("bestmove")).count();
        assert_eq!(found, best_moves, "{commands}");
    }
}

#[test]
fn an_unknown_line_ends_no_endless_search() {
    let answers = answers("go infinite\nfoo\nspsa\nisready\nstop\n");
    let at = |begin: &str| answers.iter().position(|line| line.starts_with(begin)).unwrap();
    assert!(at("info string unknown command `foo`") < at("bestmove"));
    assert!(at("readyok") < at("bestmove"), "{answers:?}");
}

#[test]
fn a_bench_of_another_depth_than_a_number_is_refused() {
    for arguments in ["x", "2 x", "16 1 8", "-5", "0", "101"] {
        let said = answers(&format!("bench {arguments}\n"));
        let expected = format!("info string bench takes a depth from 1 to 100, not `{arguments}`");
        assert_eq!(said, [expected]);
    }
    assert!(answers("bench 1\n")[0].ends_with(" nps"));
    let stopped = answers("bench 30\nstop\n");
    assert!(stopped[0].starts_with("info string bench was stopped after "), "{stopped:?}");
}

#[test]
fn the_evaluation_of_the_command_line_is_the_default_of_its_option() {
    let mut written = tempfile::tempfile().unwrap();
    let initial = Initial { name: "mine.hce.toml".to_owned(), evaluation: Evaluation::default_hce() };
    let commands = "uci\neval\nsetoption name EvalFile value <embedded>\neval\n\
                    setoption name EvalFile value mine.hce.toml\neval\n\
                    setoption name EvalFile value <embedded>\nsetoption name EvalFile value\neval\n";
    let out = Out::new(written.try_clone().unwrap());
    serve_on(Cursor::new(commands.as_bytes().to_vec()), out, initial).unwrap();
    written.rewind().unwrap();
    let lines: Vec<String> = BufReader::new(written).lines().map(|line| line.unwrap()).collect();
    assert!(lines.contains(&"option name EvalFile type string default mine.hce.toml".to_owned()));
    let scores: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("info string evaluation ")).collect();
    assert!(scores[0] != scores[1] && scores[0] == scores[2] && scores[0] == scores[3], "{scores:?}");
}

#[test]
fn the_moves_to_choose_from_are_kept_to() {
    assert_eq!(best_move("go depth 4 searchmoves a2a3\n"), "a2a3");
    assert_eq!(best_move("go searchmoves h2h4 depth 4\n"), "h2h4");
    // The only mate is not among them.
    let fen = "position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1\n";
    assert_eq!(best_move(&format!("{fen}go depth 3 searchmoves g2g3\ngo depth 3\n")), "d1d8");
    assert_eq!(best_move(&format!("{fen}go mate 1\n")), "d1d8", "the mate ends the search");
}

#[test]
fn several_lines_begin_with_different_moves() {
    let answers = answers("setoption name MultiPV value 3\ngo depth 4\n");
    let last: Vec<&String> = answers.iter().filter(|line| line.contains(" depth 4 ")).collect();
    assert_eq!(last.len(), 3, "{answers:?}");
    let first: HashSet<&str> =
        last.iter().filter_map(|line| line.split(" pv ").nth(1)?.split(' ').next()).collect();
    assert!(last[0].contains(" multipv 1 ") && last[2].contains(" multipv 3 "));
    assert_eq!(first.len(), 3);
}

#[test]
fn chances_are_shown_on_request() {
    assert!(!answers("go depth 3\n").iter().any(|line| line.contains(" wdl ")));
    let answers = answers("setoption name UCI_ShowWDL value true\ngo depth 3\n");
    let infos = answers.iter().filter(|line| line.starts_with("info depth"));
    for info in infos.clone() {
        let words: Vec<&str> = info.split(' ').skip_while(|&word| word != "cp").collect();
        let numbers = words[3..6].iter().map(|word| word.parse::<u32>().unwrap());
        assert_eq!((words[2], numbers.sum::<u32>(), words[6]), ("wdl", 1000, "nodes"), "{info}");
    }
    assert_eq!(infos.count(), 3);
}

#[test]
fn a_limited_player_thinks_less_and_an_analysis_is_not_limited() {
    let nodes = |options: &str| {
        let options = options.split(", ").map(|option| format!("setoption name {option}\n"));
        let answers = answers(&format!("{}go depth 8\n", options.collect::<String>()));
        let info = answers.iter().rfind(|line| line.starts_with("info depth")).unwrap();
        let words: Vec<&str> = info.split(' ').collect();
        words[words.iter().position(|&word| word == "nodes").unwrap() + 1].parse::<u64>().unwrap()
    };
    let weak = format!("UCI_Elo value {}", crate::strength::WEAKEST);
    let limited = nodes(&format!("{weak}, UCI_LimitStrength value true"));
    assert!(limited <= 100, "{limited}");
    assert_eq!(nodes(&format!("{weak}, UCI_LimitStrength value true, Threads value 4")), limited);
    let full = nodes("Hash value 16");
    assert!(full > 1_000);
    assert_eq!(nodes(&weak), full, "UCI_Elo alone");
    assert_eq!(nodes(&format!("{weak}, UCI_LimitStrength value true, UCI_AnalyseMode value true")), full);
    let playouts = answers("setoption name UCI_LimitStrength value true\nsetoption name Search value mcts\n");
    assert_eq!(playouts, ["info string Search mcts plays at full strength"]);
}

#[test]
fn a_weak_player_plays_the_same_again_and_another_game_with_another_seed() {
    let weak = format!(
        "setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value {}\n",
        crate::strength::WEAKEST
    );
    let game = |seed: u32| {
        let mut moves = String::new();
        for _ in 0..6 {
            let go = format!(
                "{weak}setoption name Seed value {seed}\nposition startpos moves{moves}\ngo depth 8\n"
            );
            moves = format!("{moves} {}", best_move(&go));
        }
        moves
    };
    assert_eq!(game(0), game(0));
    assert!((1..4).any(|seed| game(seed) != game(0)));
}

#[test]
fn tables_are_counted_and_a_folder_without_them_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let set = |path: &str| format!("setoption name SyzygyPath value {path}\n");
    let empty = folder.path().to_str().unwrap();
    let said = answers(&set(empty));
    assert_eq!(said, [format!("info string SyzygyPath {empty}: holds no Syzygy tables (.rtbw, .rtbz)")]);
    let said = answers(&set(&format!("{empty}/none")));
    assert!(said[0].starts_with(&format!("info string SyzygyPath {empty}/none: ")), "{said:?}");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/syzygy");
    let go = "position fen 8/8/8/8/8/1k1K4/8/n2R4 w - - 0 1\ngo nodes 2000\n";
    let with = answers(&format!("{}{go}", set(fixtures)));
    assert_eq!(with[0], "info string SyzygyPath: tables of up to 3 pieces");
    let last = &with[with.len() - 2];
    assert!(last.contains(" score cp 19999 ") && last.contains(" tbhits "), "{last}");
    let off = ["SyzygyPath value <empty>", "SyzygyProbeLimit value 2"];
    for off in off.map(|option| format!("{}setoption name {option}\n{go}", set(fixtures))) {
        assert!(!answers(&off).iter().any(|line| line.contains(" tbhits ")));
    }
}

#[test]
fn options_do_not_depend_on_case_and_spaces() {
    let answers = answers(
        "setoption   NAME  uci_chess960  VALUE  TRUE\nsetoption name move   OVERHEAD value 20\n\
         setoption name clear hash\nposition fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\ngo perft 1\n",
    );
    assert!(answers.contains(&"e1h1: 1".to_owned()), "{answers:?}");
    assert!(!answers.iter().any(|line| line.starts_with("info string")), "{answers:?}");
}
