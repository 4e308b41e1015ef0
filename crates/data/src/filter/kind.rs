//! Kinds of parameters: the values that one takes, how they are read and shown.

use toml::Value;

/// Kind of a parameter, with its range and default; several defaults are a list of that length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamKind {
    /// A whole number from the first to the second.
    Whole((i64, i64), &'static [i64]),
    /// A number from the first to the second.
    Real((f64, f64), &'static [f64]),
    Switch(bool),
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// Any text.
    Text(&'static str),
    /// The name of a file, which has no default.
    File,
}

impl ParamKind {
    pub fn count(&self) -> usize {
        match self {
            ParamKind::Whole(_, default) => default.len(),
            ParamKind::Real(_, default) => default.len(),
            _ => 1,
        }
    }

    pub(super) fn default(&self) -> Value {
        let list = |mut values: Vec<Value>| match values.len() {
            1 => values.remove(0),
            _ => Value::Array(values),
        };
        match self {
            ParamKind::Whole(_, default) => list(default.iter().map(|n| Value::Integer(*n)).collect()),
            ParamKind::Real(_, default) => list(default.iter().map(|x| Value::Float(*x)).collect()),
            ParamKind::Switch(default) => Value::Boolean(*default),
            ParamKind::Choice(words) => Value::String(words[0].into()),
            ParamKind::Text(default) => Value::String((*default).into()),
            ParamKind::File => Value::String(String::new()),
        }
    }

    pub(super) fn parse(&self, text: &str) -> Option<Value> {
        let number = |text: &str| text.trim().parse().ok().map(Value::Float);
        match self {
            ParamKind::Switch(_) => text.parse().ok().map(Value::Boolean),
            ParamKind::Choice(_) | ParamKind::Text(_) | ParamKind::File => Some(Value::String(text.into())),
            _ if self.count() > 1 => text.split(',').map(number).collect::<Option<_>>().map(Value::Array),
            _ => number(text),
        }
    }

    /// The value in the parameter's type, or `None` if the parameter does not take it.
    pub(super) fn checked(&self, value: &Value) -> Option<Value> {
        match self.count() {
            1 => self.checked_one(value),
            count => {
                let list = value.as_array().filter(|list| list.len() == count)?;
                list.iter().map(|value| self.checked_one(value)).collect::<Option<_>>().map(Value::Array)
            }
        }
    }

    fn checked_one(&self, value: &Value) -> Option<Value> {
        match self {
            ParamKind::Whole((low, high), _) => {
                let whole = number(value).filter(|x| x.fract() == 0.0)? as i64;
                (*low..=*high).contains(&whole).then_some(Value::Integer(whole))
            }
            ParamKind::Real((low, high), _) => {
                number(value).filter(|x| (low..=high).contains(&x)).map(Value::Float)
            }
            ParamKind::Switch(_) => value.as_bool().map(Value::Boolean),
            ParamKind::Choice(words) => value.as_str().filter(|word| words.contains(word)).map(Value::from),
            ParamKind::Text(_) | ParamKind::File => value.as_str().map(Value::from),
        }
    }

    /// The values it takes: `a whole number from 1 to 255`.
    pub(super) fn describe(&self) -> String {
        match self {
            ParamKind::Switch(_) | ParamKind::Choice(_) | ParamKind::Text(_) | ParamKind::File => {
                self.range()
            }
            ParamKind::Whole(..) if self.count() == 1 => format!("a whole number from {}", self.range()),
            _ if self.count() == 1 => format!("a number from {}", self.range()),
            _ => format!("a list of {} numbers from {}", self.count(), self.range()),
        }
    }

    pub(super) fn range(&self) -> String {
        match self {
            ParamKind::Whole((low, high), _) => format!("{low} to {high}"),
            ParamKind::Real((low, high), _) => format!("{low} to {high}"),
            ParamKind::Switch(_) => "true or false".into(),
            ParamKind::Choice(words) => words.join(" or "),
            ParamKind::Text(_) => "text".into(),
            ParamKind::File => "a file".into(),
        }
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Float(x) => x.to_string(),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}
