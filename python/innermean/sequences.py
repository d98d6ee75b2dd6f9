"""Classifiers of the steps of sequences from a language model, without labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from innermean import _arrays, _innermean
from innermean._callbacks import with_callbacks
from innermean._estimator import Estimator, said

__all__ = ["SequenceClassifier"]


class SequenceClassifier(Estimator):
    """Classes of the steps of sequences, from how often n-grams of classes occur in a language.

    No label is used: the classifier is fitted so that the n-grams of what it predicts occur as
    often as in the language. A search over many starts comes first, as the objective has many
    local minima.

    Parameters
    ----------
    language_model
        Frequencies of n-grams: a dict from tuples of two or three classes to probabilities, or to
        whole numbers, which are counts; or a table with columns token1, token2 and, of trigrams,
        token3, and a column probability or count.
    corpus
        Instead of a model, sequences of classes to be counted: lists, or texts with blanks.
    order
        The length of the n-grams of a corpus, 2 or 3; 2 by default.
    l2
        The weight of half the squared norm of the coefficients.
    starts
        How many starts the search tries.
    method, settings, tolerance, max_outer, max_seconds, seed
        As in :meth:`innermean.Problem.solve`.
    warm_start
        Begin where the last fit ended, without a search.

    Attributes
    ----------
    coef_, intercept_, classes_
        As scikit-learn's linear classifiers have them, with a row of coefficients for each class.
    answer_
        What is known of the answer: ``divergence``, ``search`` (what became of the starts), ...

    Examples
    --------
    >>> import innermean
    >>> X = [[0.1], [0.9], [1.0], [0.0], [0.9], [1.1], [0.1], [1.0], [0.9], [0.2]] * 5
    >>> bigrams = {("a", "b"): 3, ("b", "b"): 3, ("b", "a"): 3}
    >>> model = innermean.SequenceClassifier(bigrams).fit(X, lengths=[10] * 5)
    >>> model.predict([[0.0], [1.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        language_model: Any = None,
        *,
        corpus: Any = None,
        order: int | None = None,
        l2: float = 1e-4,
        starts: int = 24,
        method: str = "auto",
        settings: dict[str, Any] | None = None,
        tolerance: float | None = 1e-6,
        max_outer: int | None = 10_000,
        max_seconds: float | None = None,
        seed: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.language_model = language_model
        self.corpus = corpus
        self.order = order
        self.l2 = l2
        self.starts = starts
        self.method = method
        self.settings = settings
        self.tolerance = tolerance
        self.max_outer = max_outer
        self.max_seconds = max_seconds
        self.seed = seed
        self.warm_start = warm_start

    @with_callbacks
    def fit(self, X: Any, y: Any = None, lengths: Any = None) -> SequenceClassifier:
        """Finds the coefficients.

        Parameters
        ----------
        X
            A row of features for each step, sequence after sequence.
        y
            Not looked at: :meth:`score` says how well labels are found.
        lengths
            The number of steps of each sequence; without it all rows are one sequence.
        """
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        if self.starts < 1:
            raise ValueError(f"starts: expected at least 1, got {self.starts}")
        language = _Language.of(self.language_model, self.corpus, self.order)
        start = getattr(self, "result_", None) if self.warm_start else None
        self._run(
            _innermean.fit_sequences,
            X,
            self._names(),
            _sequences(lengths, len(X)),
            language.told(),
            said(l2=self.l2),
            int(self.starts),
            self._solver(None if start is None else start.theta),
        )
        self.classes_ = np.array([language.tokens[name] for name in self.answer_["classes"]])
        theta = self.result_.theta.reshape(len(self.classes_), -1)
        # theta is of features less their means and over their deviations.
        self.coef_ = theta[:, :-1] / np.array(self.answer_["feature_deviations"])
        self.intercept_ = theta[:, -1] - self.coef_ @ np.array(self.answer_["feature_means"])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """A score for each class at each step."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return X @ self.coef_.T + self.intercept_

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The probabilities of the classes at each step, from its features alone."""
        from scipy.special import softmax

        return softmax(self.decision_function(X), axis=1)

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The likeliest class of each step, from its features alone."""
        best = self.decision_function(X).argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How often the class of a step is the likeliest."""
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))


class _Language:
    """N-grams of tokens and how often they occur."""

    def __init__(
        self, ngrams: Mapping[tuple[Any, ...], Any], order: int, are_counts: bool, tokens: Any = ()
    ) -> None:
        self.ngrams, self.order, self.are_counts = ngrams, order, are_counts
        #: Tokens by name, in the order in which they appear.
        self.tokens: dict[str, Any] = {}
        for token in [*tokens, *(token for ngram in ngrams for token in ngram)]:
            token = token.item() if isinstance(token, np.generic) else token
            if self.tokens.setdefault(str(token), token) != token:
                raise ValueError(
                    f"language_model: the classes {token!r} and {self.tokens[str(token)]!r} have "
                    "one name; expected texts or numbers, not both"
                )

    @classmethod
    def of(cls, model: Any, corpus: Any, order: int | None) -> _Language:
        """That of a model or of a corpus."""
        if order not in (None, 2, 3):
            raise ValueError(f"order: expected 2 or 3, got {order!r}")
        if (model is None) == (corpus is None):
            raise ValueError(
                "language_model: without labels a language is needed; expected a language_model "
                "or a corpus, and not both"
            )
        if corpus is not None:
            return cls._counted(corpus, order or 2)
        ngrams, are_counts = _frequencies(model)
        lengths = {len(ngram) for ngram in ngrams}
        if len(lengths) != 1 or not lengths <= {2, 3}:
            raise ValueError(
                "language_model: expected n-grams of two classes, or of three; got lengths "
                f"{sorted(lengths)}"
            )
        found = lengths.pop()
        if order not in (None, found):
            raise ValueError(f"order: the language_model has n-grams of {found}, got {order}")
        return cls(ngrams, found, are_counts)

    @classmethod
    def _counted(cls, corpus: Any, order: int) -> _Language:
        if isinstance(corpus, str):
            raise ValueError(
                "corpus: expected a list of sequences, got one text; use corpus.splitlines()"
            )
        counts: Counter[tuple[Any, ...]] = Counter()
        tokens: dict[Any, None] = {}
        for line in corpus:
            words = line.split() if isinstance(line, str) else list(line)
            tokens.update(dict.fromkeys(words))
            counts.update(zip(*(words[k:] for k in range(order))))
        if not counts:
            raise ValueError(f"corpus: has no sequence of at least {order} classes")
        return cls(counts, order, True, tokens)

    def told(self) -> Any:
        """As the compiled core takes it."""
        places = {name: k for k, name in enumerate(self.tokens)}
        codes = [places[str(token)] for ngram in self.ngrams for token in ngram]
        frequencies = [float(value) for value in self.ngrams.values()]
        ngrams = np.array(codes, dtype=np.uint32)
        return list(self.tokens), ngrams, self.order, frequencies, self.are_counts


def _frequencies(model: Any) -> tuple[dict[tuple[Any, ...], Any], bool]:
    """N-grams with their frequencies, and whether these are counts."""
    if isinstance(model, Mapping):
        ngrams = {tuple(ngram): value for ngram, value in model.items()}
        whole = all(isinstance(value, (int, np.integer)) for value in ngrams.values())
        are_counts = whole and bool(ngrams)
    else:
        names = list(getattr(model, "columns", []))
        tokens = [name for name in ("token1", "token2", "token3") if name in names]
        given = [name for name in ("probability", "count") if name in names]
        if len(tokens) < 2 or len(given) != 1:
            raise ValueError(
                "language_model: expected a dict, or a table with columns token1, token2 and "
                f"either probability or count; got {type(model).__name__} {names}"
            )
        rows = list(zip(*(list(model[name]) for name in tokens)))
        ngrams = dict(zip(rows, list(model[given[0]])))
        if len(ngrams) < len(rows):
            twice = next(row for row, count in Counter(rows).items() if count > 1)
            words = " ".join(map(str, twice))
            raise ValueError(f"language_model: the n-gram '{words}' stands there twice")
        are_counts = given == ["count"]
    numbers = _arrays.floats(list(ngrams.values()), "language_model")
    if (numbers < 0).any():
        raise ValueError(f"language_model: expected frequencies of 0 or more, got {numbers.min()}")
    return ngrams, are_counts


def _sequences(lengths: Iterable[int] | None, rows: int) -> _arrays.Codes:
    """The sequence of each row."""
    if lengths is None:
        return np.zeros(rows, dtype=np.uint32)
    counts = _arrays.integers(lengths, "lengths")
    if (counts < 1).any() or counts.sum() != rows:
        raise ValueError(
            f"lengths: expected numbers of at least 1 whose sum is {rows}, the number of rows; "
            f"got a sum of {counts.sum()}"
        )
    return np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
