//! Carries out a script of games on standard input, so many times, and compares the values of `eval`.
mod nnue;

fn pass(stack: &mut nnue::Stack, script: &[(String, Vec<i32>)]) -> u32 {
    let mut checked = 0;
    for (word, numbers) in script {
        match word.as_str() {
            "r" => stack.refresh(&std::array::from_fn(|i| numbers[i] as u8)),
            "u" => {
                let mut changes = [nnue::Change { square: 0, piece: 0 }; 4];
                let count = numbers[0] as usize;
                for (change, pair) in changes.iter_mut().zip(numbers[1..].chunks_exact(2)) {
                    *change = nnue::Change { square: pair[0] as u8, piece: pair[1] as u8 };
                }
                stack.push(&changes[..count]);
            }
            "o" => stack.pop(),
            _ => {
                assert_eq!(stack.evaluate(numbers[0] as usize), numbers[1], "check {checked}");
                checked += 1;
            }
        }
    }
    checked
}

/// Nanoseconds of this thread on a processor, so that other programs do not count; of the clock where Linux is not
/// there.
fn time(start: std::time::Instant) -> u128 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let time = text.split(' ').next().and_then(|time| time.parse().ok());
    time.unwrap_or_else(|| start.elapsed().as_nanos())
}

fn main() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    let line = |line: &str| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        (word.to_string(), rest.split_whitespace().map(|n| n.parse().unwrap()).collect())
    };
    let script: Vec<(String, Vec<i32>)> = text.lines().map(line).collect();
    let passes: u32 = std::env::args().nth(1).map_or(1, |n| n.parse().unwrap());
    let mut stack = nnue::Stack::new(&[nnue::EMPTY; 64]);
    let start = std::time::Instant::now();
    let before = time(start);
    let checked: u32 = (0..passes).map(|_| pass(&mut stack, &script)).sum();
    println!("checked {checked}\n{:.1} ns", (time(start) - before) as f64 / f64::from(checked));
}
