//! A method's settings, for people and for programs.

use innermean::{AnyMethod, StepRule};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::wording::numbers::{grouped, significant};

/// The settings by name, in the order in which the method has them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodSettings(Map<String, Value>);

impl MethodSettings {
    /// Those of `method`; `rule` is what was said about its steps.
    pub fn of(method: &AnyMethod, rule: Option<StepRule>) -> Self {
        let mut settings = Map::new();
        if method.info().settings.contains(&innermean::Knob::Rule) {
            settings.insert("steps".to_owned(), rule_name(rule.unwrap_or_default()).into());
        }
        // Settings have names and numbers, so that this does not fail.
        if let Ok(Value::Object(found)) = serde_json::to_value(method) {
            let automatic = found.get("automatic").and_then(Value::as_bool);
            if automatic == Some(false)
                && settings.get("steps").is_some_and(|steps| steps == "automatic")
            {
                // A step was given, or phi has kinks.
                settings.insert("steps".to_owned(), rule_name(StepRule::Scaled).into());
            }
            let found_later = |name: &str| {
                automatic == Some(true)
                    && ["alpha_theta", "alpha_w", "inner_iterations"].contains(&name)
            };
            settings.extend(found.into_iter().filter(|(name, _)| {
                !["seed", "single_loop", "automatic", "guarded"].contains(&name.as_str())
                    && !found_later(name)
            }));
        }
        MethodSettings(settings)
    }

    /// One that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// Those that are numbers, in a line such as `alpha_theta 0.000222, alpha_w 4.00, M 28,960`.
    pub fn line(&self) -> String {
        let shown = self.0.iter().filter_map(|(name, value)| match (name.as_str(), value) {
            ("steps" | "reference", _) => None,
            ("warmup_epochs", value) if value.as_u64() == Some(0) => None,
            ("inner_iterations", Value::Number(m)) => Some(format!("M {}", grouped(m.as_u64()?))),
            (name, Value::Number(count)) if count.is_u64() => {
                Some(format!("{} {}", name.replace('_', " "), grouped(count.as_u64()?)))
            }
            (name @ ("alpha_theta" | "alpha_w"), Value::Number(step)) => {
                Some(format!("{name} {}", significant(step.as_f64()?, 3)))
            }
            (name, Value::Number(number)) => {
                Some(format!("{} {}", name.replace('_', " "), significant(number.as_f64()?, 3)))
            }
            (name, Value::String(word)) => Some(format!("{} {word}", name.replace('_', " "))),
            _ => None,
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The rule that found the steps, in words.
    pub fn rule(&self) -> Option<&'static str> {
        Some(match self.0.get("steps")?.as_str()? {
            "automatic" => "automatic steps",
            "scaled" => "scaled steps",
            "theorem1" => "steps of Theorem 1",
            "theorem2" => "steps of Theorem 2",
            _ => "steps of Theorem 3",
        })
    }
}

/// The name of a rule.
pub fn rule_name(rule: StepRule) -> &'static str {
    match rule {
        StepRule::Automatic => "automatic",
        StepRule::Scaled => "scaled",
        StepRule::Theorem1 => "theorem1",
        StepRule::Theorem2 => "theorem2",
        StepRule::Theorem3 => "theorem3",
    }
}
