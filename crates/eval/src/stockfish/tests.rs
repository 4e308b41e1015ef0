use super::parameters::tests::random;
use super::parameters::{BUCKETS, KIND_SQUARES};
use super::*;
use patzer_chess::rng::Rng;
use patzer_chess::testing::along_random_games;
use shakmaty::Role;

/// The rows of a perspective, by the numbering of HalfKAv2_hm.
fn rows(board: &Board, side: Color) -> Vec<usize> {
    let upside_down = if side.is_white() { 0 } else { 56 };
    let king = board.king_of(side).unwrap() as usize ^ upside_down;
    let mirror = if king % 8 < 4 { 7 } else { 0 };
    let file = (king % 8).min(7 - king % 8);
    let bucket = (7 - king / 8) * 4 + file;
    let row = |square: usize, color: Color, role: Role| {
        let kind = match role {
            Role::King => 10,
            _ => 2 * (role as usize - 1) + usize::from(color != side),
        };
        bucket * KIND_SQUARES + 64 * kind + (square ^ upside_down ^ mirror)
    };
    board.iter().map(|(square, piece)| row(square as usize, piece.color, piece.role)).collect()
}

/// The evaluation by its definition.
fn plain(parameters: &Parameters, board: &Board, side: Color) -> Output {
    let hidden = parameters.hidden();
    let bucket = (board.occupied().count() - 1) / 4;
    let sides = [side, side.other()].map(|side| rows(board, side));
    let psqt = sides
        .each_ref()
        .map(|rows| rows.iter().map(|row| parameters.psqt[row * BUCKETS + bucket]).sum::<i32>());
    let mut inputs = Vec::new();
    for rows in &sides {
        let sum = |at: usize| {
            let weights = rows.iter().map(|row| i32::from(parameters.weights[row * hidden + at]));
            (i32::from(parameters.bias[at]) + weights.sum::<i32>()).clamp(0, 127)
        };
        inputs.extend((0..hidden / 2).map(|at| sum(at) * sum(at + hidden / 2) / 128));
    }
    let affine = |layer: &parameters::Layer, inputs: &[i32]| -> Vec<i32> {
        let neuron = |(weights, bias): (&[i8], &i32)| {
            bias + inputs.iter().zip(weights).map(|(x, w)| x * i32::from(*w)).sum::<i32>()
        };
        layer.weights.chunks(layer.weights.len() / layer.bias.len()).zip(&layer.bias).map(neuron).collect()
    };
    let Stack { first, second, output } = &parameters.stacks[bucket];
    let sums = affine(first, &inputs);
    let squares = sums[..15].iter().map(|&x| (i64::from(x) * i64::from(x) / 524_288).min(127) as i32);
    let clipped = sums[..15].iter().map(|&x| x.div_euclid(64).clamp(0, 127));
    let inputs: Vec<i32> = squares.chain(clipped).collect();
    let hidden: Vec<i32> =
        affine(second, &inputs).into_iter().map(|x| x.div_euclid(64).clamp(0, 127)).collect();
    let positional = affine(output, &hidden)[0] + (i64::from(sums[15]) * 9600 / 8128) as i32;
    Output { psqt: (psqt[0] - psqt[1]) / 2, positional }
}

#[test]
fn every_size_evaluates_by_its_definition_whatever_came_before() {
    for (seed, hidden) in [64, 128, 320, 1024].into_iter().enumerate() {
        let parameters = random(hidden, seed as u64, false);
        let network = Arc::new(Network::new(&parameters));
        let kernels = Kernel::all().into_iter();
        let mut evaluators: Vec<_> = kernels.map(|kernel| Stockfish::with(network.clone(), kernel)).collect();
        let (mut rng, mut seen) = (Rng::new(1), 0usize);
        along_random_games(3, 7, 120, |position| {
            let ply = if rng.below(4) == 0 { rng.below(140) } else { seen };
            let (board, side) = (position.board(), position.turn());
            let expected = plain(&parameters, board, side);
            for evaluator in &mut evaluators {
                let bucket = evaluator.bucket(board);
                assert_eq!(evaluator.output(bucket, board, side, ply), expected, "{hidden}");
            }
            seen += 1;
        });
        assert!(seen > 100);
    }
}

/// FEN, piece-square values and output of the layers that Stockfish 15.1 computes (`eval`, before it divides by 16)
/// with the network of `random(1024, 9)` as its `EvalFile`.
const BY_STOCKFISH: [(&str, i32, i32); 11] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, -21530),
    ("8/5R2/r4n1k/5B2/2P2P1p/6P1/6K1/8 w - - 0 1", 20345, 41059),
    ("r1k2q1b/pp6/2p1n2p/6p1/8/1PPQB3/P2P3P/R1K4B w Aa - 0 1", -11030, -12817),
    ("2r1n3/R1pb1r2/1p1p1kn1/1P1P1p1p/1NPNpP1P/4R1PB/7K/8 w - - 0 1", 13635, -13010),
    ("1k3r2/1pp1n1qp/5r2/p5b1/4Q3/2P3PB/PP2R2P/4R1K1 b - - 0 1", 47421, 41173),
    ("q4r2/1pp1r1nk/3p1pp1/PB1P3p/4PP1P/2Q3P1/4R1K1/R7 w - - 0 1", 2047, 7116),
    ("5n1r/kp4p1/p2b4/P2Pn1p1/1P1R4/5pPP/2B2P1K/3R4 b - - 0 1", 30872, 10895),
    ("1Nr2R2/BkqbqpN1/3q1P1K/b1B1b2B/P2p2RB/1b2RP2/q2Bq3/1NNq2Nq w - - 0 1", 24109, -9634),
    ("1nqn2R1/1q1n1prP/1P1pR2r/2p4R/p2Qp3/r4BbP/p1rb4/Qnk2K2 w - - 0 1", -2548, -1696),
    ("5nn1/2nqpp1p/Bppq2k1/RB2r1p1/1P1B3r/q2pb1PN/RRB1p1R1/1b4bK b - - 0 1", 134036, -8204),
    ("2Nq2B1/3R3Q/2PRp3/2p2q1P/r7/B4qN1/2N3kp/3K4 b - - 0 1", -28456, 17258),
];

#[test]
fn outputs_are_those_of_stockfish() {
    let network = Network::parse(&random(1024, 9, true).to_bytes()).unwrap();
    let mut evaluator = Stockfish::new(Arc::new(network));
    for (text, psqt, positional) in BY_STOCKFISH {
        let mut fields = text.split(' ');
        let board = Board::from_ascii_board_fen(fields.next().unwrap().as_bytes()).unwrap();
        let side = Color::from_char(fields.next().unwrap().chars().next().unwrap()).unwrap();
        let bucket = evaluator.bucket(&board);
        assert_eq!(evaluator.output(bucket, &board, side, 0), Output { psqt, positional }, "{text}");
        let score = (psqt + positional) * 100 / (16 * 361);
        assert_eq!(evaluator.evaluate_board(&board, 0, side, 0), score);
        assert_eq!(evaluator.buckets(&board, 0, side)[bucket], score);
    }
}
