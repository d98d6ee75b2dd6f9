"""Sequences: scikit-learn's checks, the command line's bits, a language found without labels."""

import pickle

import numpy as np
import pandas
import pytest
from estimators import assert_same, command, failures
from sklearn.model_selection import GridSearchCV

from innermean import SequenceClassifier

# Three classes that follow each other with different chances.
CHAIN = np.array([[0.1, 0.8, 0.1], [0.05, 0.15, 0.8], [0.5, 0.1, 0.4]])
NAMES = np.array(["ah", "bo", "ci"])


def chain_bigrams():
    values, vectors = np.linalg.eig(CHAIN.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    stationary /= stationary.sum()
    joint = stationary[:, None] * CHAIN
    return {(NAMES[a], NAMES[b]): joint[a, b] for a in range(3) for b in range(3)}


@pytest.fixture
def spoken(rng):
    lengths = [40] * 50
    labels = []
    for length in lengths:
        state = rng.integers(3)
        for _ in range(length):
            labels.append(state)
            state = rng.choice(3, p=CHAIN[state])
    means = np.array([[0.0, 2.0], [2.0, 0.0], [-1.0, -1.0]])
    X = means[labels] + rng.normal(0.0, 0.4, (len(labels), 2))
    return X, NAMES[labels], lengths


def test_it_passes_the_checks():
    # The checks have whole numbers for classes.
    assert failures(SequenceClassifier({(0, 0): 2, (0, 1): 1, (1, 0): 1}, starts=2)) == []


def test_classes_are_found_without_labels(spoken):
    X, labels, lengths = spoken
    model = SequenceClassifier(chain_bigrams()).fit(X, lengths=lengths)
    assert model.status_ == "solved"
    np.testing.assert_array_equal(model.classes_, NAMES)
    assert model.score(X, labels) > 0.97
    probabilities = model.predict_proba(X, lengths=lengths)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert model.answer_["search"]["near_best"] >= 1
    # What the language says and what is predicted occur as often.
    frequencies = (model.predict(X)[:, None] == NAMES).mean(axis=0)
    np.testing.assert_allclose(frequencies, model.answer_["class_frequencies"], atol=0.05)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_the_same_bits_as_the_command_line(spoken, tmp_path):
    X, labels, lengths = spoken
    bigrams = chain_bigrams()
    model = SequenceClassifier(bigrams, starts=6, seed=3, tolerance=1e-5).fit(X, lengths=lengths)
    tokens = {f"token{k + 1}": [pair[k] for pair in bigrams] for k in range(2)}
    words = ["--starts", 6, "--seed", 3, "--tolerance", 1e-5, "--language-model", "language"]
    document = command(
        tmp_path,
        "sequences",
        "steps",
        *words,
        steps={"sequence": np.repeat(np.arange(50), 40), "a": X[:, 0], "b": X[:, 1]},
        language=tokens | {"probability": list(bigrams.values())},
    )
    for answer in (model.answer_, document):  # seconds of the search
        answer.get("search", {}).pop("seconds", None)
        answer.pop("features", None)
    assert_same(model, document)


def test_languages_of_all_kinds_are_the_same(spoken):
    X, labels, lengths = spoken
    texts = [" ".join(labels[k : k + 40]) for k in range(0, len(labels), 40)]
    counts = {}
    for text in texts:
        words = text.split()
        for pair in zip(words, words[1:]):
            counts[pair] = counts.get(pair, 0) + 1
    table = pandas.DataFrame([(*pair, count) for pair, count in counts.items()])
    table.columns = ["token1", "token2", "count"]
    few = {"starts": 4}
    expected = SequenceClassifier(counts, **few).fit(X, lengths=lengths)
    lists = [text.split() for text in texts]
    for model in (
        SequenceClassifier(table, **few),
        SequenceClassifier(corpus=texts, **few),
        SequenceClassifier(corpus=lists, **few),
    ):
        model.fit(X, lengths=lengths)
        assert model.coef_.tobytes() == expected.coef_.tobytes()
    three = SequenceClassifier(corpus=texts, order=3, **few).fit(X, lengths=lengths)
    assert three.answer_["order"] == 3 and three.score(X, labels) > 0.97


def test_classes_are_what_the_language_has(spoken):
    X, labels, lengths = spoken
    codes = np.unique(labels, return_inverse=True)[1]
    model = SequenceClassifier(corpus=codes.reshape(50, 40), starts=4).fit(X, lengths=lengths)
    assert model.classes_.dtype.kind == "i"
    assert model.score(X, codes) > 0.97


def test_a_warm_start_needs_no_search(spoken):
    X, _, lengths = spoken
    model = SequenceClassifier(chain_bigrams(), starts=4, warm_start=True)
    cold = model.fit(X, lengths=lengths).objective_
    warm = model.fit(X, lengths=lengths)
    assert warm.answer_["search"] is None
    assert warm.result_.trace.objective[0] == pytest.approx(cold, rel=1e-12)


def test_a_search_over_penalties(spoken):
    X, labels, _ = spoken
    search = GridSearchCV(
        SequenceClassifier(chain_bigrams(), starts=4), {"l2": [1e-4, 10.0]}, cv=2
    ).fit(X, labels)
    assert search.best_params_ == {"l2": 1e-4}


@pytest.mark.parametrize(
    ("settings", "lengths", "said"),
    [
        ({}, None, "a language is needed"),
        ({"corpus": "a b"}, None, "splitlines"),
        ({"corpus": ["a"]}, None, "at least 2 classes"),
        ({"corpus": ["a b a"], "language_model": {}}, None, "not both"),
        ({"language_model": {("a",): 1}}, None, "lengths \\[1\\]"),
        ({"language_model": {("a", "b"): 0.3}}, None, "sum to 0.3"),
        ({"language_model": {("a", "b"): -1, ("b", "a"): 2}}, None, "0 or more"),
        ({"language_model": {("1", 1): 1}}, None, "one name"),
        ({"language_model": {("a", "a"): 1}}, None, "one class"),
        ({"language_model": {("a", "b"): 1}, "order": 3}, None, "n-grams of 2"),
        ({"language_model": [1]}, None, "expected a dict"),
        ({"corpus": ["a b a"], "starts": 0}, None, "starts"),
        ({"corpus": ["a b a"], "l2": -1.0}, None, "l2|ridge|-1"),
        ({"corpus": ["a b a"]}, [2], "sum is 4"),
        ({"corpus": ["a b a"]}, [1, 1, 1, 1], "2 steps in a row"),
    ],
)
def test_input_that_makes_no_sense_is_refused(settings, lengths, said):
    with pytest.raises(ValueError, match=said):
        SequenceClassifier(**settings).fit([[0.0], [1.0], [0.0], [1.0]], lengths=lengths)
