//! The Universal Chess Interface (Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface",
//! 2006). Searches run beside the reading of commands. An `info string` answers invalid input.

mod go;
mod notation;
mod options;
mod session;
#[cfg(test)]
mod tests;
mod wdl;

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use options::PlayerSettings;
use patzer_eval::Evaluation;
use session::{Initial, Session};
pub(crate) use wdl::Chances;

/// Serves UCI on standard input and output until `quit` or the end of the input, with the embedded evaluation.
pub fn serve() -> std::io::Result<()> {
    serve_input(std::io::stdin(), Initial::embedded(Evaluation::default()))
}

/// Serves UCI like [`serve`] with another evaluation, whose name is the default of the option `EvalFile`.
pub fn serve_with(name: String, evaluation: Evaluation) -> std::io::Result<()> {
    serve_input(std::io::stdin(), Initial { name, evaluation })
}

/// Serves UCI like [`serve`] with the search parameters among the options, for a tuner.
pub fn serve_tunable() -> std::io::Result<()> {
    let input = std::io::Cursor::new("tunable\n").chain(std::io::stdin());
    serve_input(input, Initial::embedded(Evaluation::default()))
}

fn serve_input(input: impl Read + Send + 'static, initial: Initial) -> std::io::Result<()> {
    serve_on(BufReader::new(input), Out::new(std::io::stdout()), initial)
}

/// Runs these commands up to `quit`, each to its end, without reading standard input; false if one was refused.
pub fn carry_out(commands: &[String]) -> bool {
    carry_out_to(commands, std::io::stdout(), Evaluation::default())
}

/// Runs commands like [`carry_out`] with this evaluation, and writes the answers to `output`.
pub fn carry_out_to(
    commands: &[String],
    output: impl Write + Send + 'static,
    evaluation: Evaluation,
) -> bool {
    let (sender, events) = channel();
    let lines = commands.iter().take_while(|command| command.trim() != "quit");
    let lines = lines.map(|command| Event::line(command.clone()));
    for event in lines.chain([Event::End]) {
        let _ = sender.send(event);
    }
    let out = Out::new(output);
    let _ = respond(&events, Session::new(out.clone(), sender, Initial::embedded(evaluation)), &out);
    !out.sink().refused
}

enum Event {
    /// A command and the time of its arrival.
    Line(String, Instant),
    Done(u64),
    End,
    Broken(std::io::Error),
}

impl Event {
    fn line(text: String) -> Event {
        Event::Line(text, Instant::now())
    }
}

fn serve_on(input: impl BufRead + Send + 'static, out: Out, initial: Initial) -> std::io::Result<()> {
    let (sender, events) = channel();
    let session = Session::new(out.clone(), sender.clone(), initial);
    // Reads on a separate thread, so that commands are handled during a search. It ends with the process.
    std::thread::Builder::new().spawn(move || read(input, &sender))?;
    respond(&events, session, &out)
}

fn read(mut input: impl BufRead, events: &Sender<Event>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let event = match input.read_until(b'\n', &mut bytes) {
            Ok(0) => Event::End,
            Ok(_) => Event::line(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => Event::Broken(error),
        };
        let last = !matches!(event, Event::Line(..));
        if events.send(event).is_err() || last {
            return;
        }
    }
}

fn respond(events: &Receiver<Event>, mut session: Session, out: &Out) -> std::io::Result<()> {
    for event in events {
        match event {
            Event::Line(text, arrived) => {
                if !session.receive(&text, arrived) {
                    break;
                }
            }
            Event::Done(number) => session.finished(number),
            // Commands from a pipe: finish the work in progress, unless it is endless.
            Event::End => {
                session.finish();
                return Ok(());
            }
            Event::Broken(error) => return Err(error),
        }
        if out.closed() {
            break;
        }
    }
    session.halt();
    Ok(())
}

#[derive(Clone)]
struct Out(Arc<Mutex<Sink>>);

struct Sink {
    to: Box<dyn Write + Send>,
    closed: bool,
    /// Some input was invalid.
    refused: bool,
}

impl Out {
    fn new(to: impl Write + Send + 'static) -> Out {
        Out(Arc::new(Mutex::new(Sink { to: Box::new(to), closed: false, refused: false })))
    }

    fn say(&self, line: impl std::fmt::Display) {
        let mut sink = self.sink();
        let failed = writeln!(sink.to, "{line}").and_then(|()| sink.to.flush()).is_err();
        sink.closed |= failed;
    }

    fn explain(&self, text: impl std::fmt::Display) {
        self.say(format_args!("info string {text}"));
    }

    /// Answers an invalid command with an `info string`.
    fn refuse(&self, reason: impl std::fmt::Display) {
        self.explain(reason);
        self.sink().refused = true;
    }

    fn closed(&self) -> bool {
        self.sink().closed
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
