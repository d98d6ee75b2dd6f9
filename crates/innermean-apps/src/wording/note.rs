//! What an application decides or finds without being asked.

mod sentences;

/// Something worth telling whoever asked for a fit. Its sentence names parameters in backquotes;
/// [`spell`](super::spell) writes them as a face does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Columns were brought to one scale for the run.
    Scaled,
    /// These columns are not told apart by the data, nor by a ridge.
    Undetermined(Vec<String>),
    /// The given start violates the constraint; the run begins at its projection.
    StartMoved,
    /// An l1 norm was given beside a constraint that makes it constant.
    IdleL1,
    /// The width of the Huber function of a portfolio's risk.
    RiskWidth(f64),
    /// Without a bound on the weights, a Huber risk may not have a minimum.
    RiskMayFall,
    /// Some portfolio has a return and no risk.
    NoRisk {
        /// Rows of returns.
        periods: usize,
        /// Columns of returns.
        assets: usize,
    },
    /// The covariance of the returns has no inverse.
    FewPeriods {
        /// Rows of returns.
        periods: usize,
        /// Columns of returns.
        assets: usize,
    },
    /// Nothing makes the weights sum to 1.
    FreeSum,
    /// Returns that are taken as fractions, of this typical size, and may well be percent.
    LargeFractions(f64),
    /// Periods that do not count alike.
    WeightedPeriods {
        /// How many equal ones would say as much: `(sum w)^2 / sum w^2`.
        effective: f64,
        /// How many there are.
        periods: usize,
        /// Those that count nothing and are left out.
        left_out: usize,
    },
    /// Which class a positive score stands for.
    Classes {
        /// The class of scores above 0.
        positive: String,
        /// The class of scores below 0.
        negative: String,
    },
    /// The names of several classes.
    SeveralClasses(Vec<String>),
    /// The width of the Huber loss, found from the targets.
    LossWidth(f64),
    /// Fewer rows than coefficients, and no penalty.
    FewerRows {
        /// How many coefficients there are.
        coefficients: usize,
    },
    /// This many rows have weight 0.
    NoWeight(usize),
    /// This many rows have no target.
    NoTarget(usize),
    /// Columns without an entry are left out.
    UnusedColumns {
        /// How many.
        left_out: usize,
        /// Of this many.
        all: usize,
    },
    /// Features that are zero in every row.
    ZeroFeatures {
        /// How many.
        zero: usize,
        /// Of this many.
        all: usize,
    },
    /// Every row is on the right side, and no penalty bounds the coefficients.
    Separated,
    /// Larger coefficients fit as well, and no penalty bounds them.
    Saturated,
    /// Fewer labels than coefficients, and no ridge.
    FewerLabels {
        /// How many coefficients there are.
        coefficients: usize,
    },
    /// All labels are 0, or all are 1, which the intercept alone fits without end.
    OneLabel(f64),
    /// All labels of groups of several rows are 0 or 1.
    ExtremeLabels {
        /// How many groups there are.
        groups: usize,
        /// How many have the label 1.
        ones: usize,
    },
    /// Groups without a label.
    Unlabelled {
        /// How many.
        groups: usize,
        /// One of them.
        example: String,
        /// Their rows.
        rows: usize,
    },
    /// Groups whose labels have the weight 0.
    HeldOutGroups {
        /// How many.
        groups: usize,
        /// One of them.
        example: String,
    },
    /// Rows of no group.
    NoGroup(usize),
    /// Labels of groups that have no rows.
    WithoutRows {
        /// How many.
        groups: usize,
        /// One of them.
        example: String,
    },
    /// The discount, where none was given.
    Discount(f64),
    /// States that are entered and never left, taken as terminal.
    NeverLeftTerminal(Vec<String>),
    /// States that are entered and never left, valued by their features.
    NeverLeftBootstrap(Vec<String>),
    /// States of a generated process that its log does not visit.
    Unvisited(usize),
    /// Most transitions leave a state that is seen once: the projected error is taken.
    Projected {
        /// Transitions that leave a state seen once.
        once: usize,
        /// All transitions.
        transitions: usize,
    },
    /// The same, where the Bellman error was asked for.
    DoubleSampling {
        /// Transitions that leave a state seen once.
        once: usize,
        /// All transitions.
        transitions: usize,
    },
    /// The columns of a log that say where episodes end, and in how many steps.
    Ends {
        /// Terminal steps.
        done: Option<(String, usize)>,
        /// Steps that were cut off, of those that are not terminal.
        truncated: Option<(String, usize)>,
    },
    /// Rows of an automatic reset, which are left out.
    Resets(usize),
    /// Steps that were cut off seem to lead to the start of the next episode.
    CutToStart,
    /// Nothing says where the episodes of a log end, along which there are traces.
    OneEpisode,
    /// Gaps that break sequences.
    Gaps(usize),
    /// Parts of sequences that are shorter than an n-gram.
    Short {
        /// The length of an n-gram.
        order: usize,
        /// How many parts are shorter.
        parts: usize,
    },
    /// Labels that are not classes of the language.
    UnknownLabels {
        /// Which.
        labels: Vec<String>,
        /// In how many rows.
        rows: usize,
    },
    /// Features with one value for all steps.
    ConstantFeatures(Vec<String>),
    /// The search for a start was interrupted.
    SearchCutShort,
}

impl Note {
    /// Whether it makes an answer doubtful: no finite coefficients, or many, may be best.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Note::Undetermined(_)
                | Note::FewerRows { .. }
                | Note::FewerLabels { .. }
                | Note::OneLabel(_)
                | Note::Separated
                | Note::Saturated
                | Note::NoRisk { .. }
        )
    }
}
