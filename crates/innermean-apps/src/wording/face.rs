//! Parameters as a face spells them.

/// How a face spells the parameters of an application.
pub trait Face {
    /// A parameter by itself, such as `--l2`.
    fn parameter(&self, name: &str) -> String;

    /// A parameter with a value, such as `--risk huber`.
    fn setting(&self, name: &str, value: &str) -> String;
}

/// The parameters that errors, notes and advice may name, beside the settings of methods
/// ([`innermean::Knob`]).
pub const PARAMETERS: &[&str] = &[
    "annualize",
    "auto_reset",
    "benchmark",
    "bootstrap",
    "by_size",
    "class_weights",
    "cluster",
    "columns",
    "constraint",
    "cost",
    "covariance",
    "current",
    "cv",
    "discount",
    "done_column",
    "episode_column",
    "exponent",
    "factor_covariance",
    "factors",
    "features",
    "fold_column",
    "frontier",
    "gaps",
    "gross",
    "group_limits",
    "half_life",
    "hinge_width",
    "huber_width",
    "ignore_extra",
    "initial_states",
    "instruments",
    "intercept",
    "l1",
    "l2",
    "label",
    "lambda",
    "level",
    "limits",
    "link",
    "loss",
    "max_calls",
    "max_outer",
    "max_risk",
    "max_seconds",
    "mean",
    "method",
    "methods",
    "model",
    "never_left",
    "objective",
    "percent",
    "predictions",
    "regressors",
    "risk",
    "risk_aversion",
    "risk_budget",
    "risk_free",
    "scaling",
    "score",
    "sequence",
    "specific",
    "spline",
    "standard_errors",
    "start",
    "steps",
    "target_objective",
    "target_return",
    "terminal",
    "tolerance",
    "turnover",
    "walk_forward",
    "weight",
];

/// `text` with the parameters in backquotes, as in `` `l2` `` and `` `risk=huber` ``, spelled by
/// `face`. Backquotes around anything else are left alone.
pub fn spell(text: &str, face: &dyn Face) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        match after.find('`').map(|end| (&after[..end], &after[end + 1..])) {
            Some((token, tail)) if is_parameter(token.split('=').next().unwrap_or(token)) => {
                out.push_str(&match token.split_once('=') {
                    Some((name, value)) => face.setting(name, value),
                    None => face.parameter(token),
                });
                rest = tail;
            }
            _ => {
                out.push('`');
                rest = after;
            }
        }
    }
    out + rest
}

fn is_parameter(name: &str) -> bool {
    PARAMETERS.contains(&name) || innermean::Knob::ALL.iter().any(|knob| knob.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Keywords;

    impl Face for Keywords {
        fn parameter(&self, name: &str) -> String {
            name.to_owned()
        }

        fn setting(&self, name: &str, value: &str) -> String {
            format!("{name}={value:?}")
        }
    }

    #[test]
    fn parameters_are_spelled_and_other_quotes_kept() {
        assert_eq!(
            spell("`risk=huber` needs `l2` or `alpha_theta`.", &Keywords),
            "risk=\"huber\" needs l2 or alpha_theta."
        );
        let left = "rows such as `1 3:0.5`, a `state` and a lone ` here";
        assert_eq!(spell(left, &Keywords), left);
    }
}
