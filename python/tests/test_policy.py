"""Policy evaluation: scikit-learn's checks, the command line's bits, LSTD, gymnasium's logs."""

import pickle

import gymnasium
import numpy as np
import pytest
from estimators import TO_ROUNDING, assert_same, command, failures

import innermean
from innermean import PolicyEvaluator

# Rows follow each other in time where no next states are given: one that is left out or repeated
# is another log.
IN_TIME = {
    "check_sample_weight_equivalence_on_dense_data": "rows are a log in the order of time",
}


@pytest.mark.parametrize("objective", ["bellman", "projected"])
def test_it_passes_the_checks(objective):
    assert failures(PolicyEvaluator(objective=objective, l2=0.1), IN_TIME) == []


@pytest.fixture
def log(rng):
    """A walk over seven places that ends at either end, with a reward on the right."""
    rows = []
    for _ in range(60):
        place = 3
        while 0 < place < 6:
            after = place + rng.choice([-1, 1])
            rows.append((place, after, float(after == 6), after in (0, 6)))
            place = after
    states, after, rewards, ends = map(np.array, zip(*rows))
    return states, after, rewards, ends


def one_hot(states):
    return np.eye(7)[states][:, 1:6]


def lstd(log, discount):
    states, after, rewards, ends = log
    x, z = one_hot(states), one_hot(after) * ~ends[:, None]
    return np.linalg.solve(x.T @ (x - discount * z), x.T @ rewards)


@pytest.mark.parametrize("objective", ["bellman", "projected"])
def test_values_are_those_of_lstd(objective, log):
    states, after, rewards, ends = log
    expected = lstd(log, 0.95)
    how = {"objective": objective, "tolerance": 1e-13}
    told = {"next_states": after, "rewards": rewards, "terminated": ends}
    named = PolicyEvaluator(0.95, features="one-hot", **how).fit(states, **told)
    np.testing.assert_allclose(named.predict([1, 2, 3, 4, 5]), expected, atol=1e-5)
    if objective == "projected":
        by_features = PolicyEvaluator(0.95, features=one_hot, **how).fit(states, **told)
        np.testing.assert_allclose(by_features.predict([1, 2, 3, 4, 5]), expected, atol=1e-5)
        told["next_states"] = one_hot(after)
        rows = PolicyEvaluator(0.95, **how).fit(one_hot(states), **told)
        np.testing.assert_allclose(rows.coef_, expected, atol=1e-5)


def test_the_same_bits_as_the_command_line(log, tmp_path):
    states, after, rewards, ends = log
    told = {"next_states": after, "rewards": rewards, "terminated": ends}
    model = PolicyEvaluator(0.9, features="one-hot", tolerance=1e-14).fit(states, **told)
    table = {"state": states, "next_state": after, "reward": rewards}
    table["terminated"] = ends.astype(int)
    words = ["--discount", 0.9, *TO_ROUNDING]
    assert_same(model, command(tmp_path, "policy", "log", *words, log=table))


def test_the_next_row_is_the_next_state(log):
    states, after, rewards, ends = log
    told = {"rewards": rewards, "terminated": ends}
    model = PolicyEvaluator(0.9, objective="projected")
    given = model.fit(one_hot(states), next_states=one_hot(after), **told).coef_
    found = model.fit(one_hot(states), **told).coef_
    np.testing.assert_allclose(found, given, atol=1e-6)


def test_a_log_of_gymnasium():
    env = gymnasium.make("CartPole-v1")
    log = innermean.rollout(env, lambda state: int(state[2] > 0), steps=2000, seed=3)
    again = innermean.rollout(env, lambda state: int(state[2] > 0), steps=2000, seed=3)
    assert len(log) == 2000 and log.state.shape == (2000, 4)
    np.testing.assert_array_equal(log.state, again.state)
    assert log.truncated[-1] or log.terminated[-1]
    same = ~(log.terminated | log.truncated)[:-1]
    np.testing.assert_array_equal(log.next_state[:-1][same], log.state[1:][same])
    assert (np.diff(log.episode)[~same] == 1).all()

    def features(states):
        return np.column_stack([states, states**2])

    model = PolicyEvaluator(0.9, objective="projected", features=features, intercept=True)
    model.fit(
        log.state,
        next_states=log.next_state,
        rewards=log.reward,
        terminated=log.terminated,
        truncated=log.truncated,
        episodes=log.episode,
    )
    assert model.status_ == "solved"
    # A reward of 1 for each step, until the pole falls: upright is worth nearly 10.
    assert 5 < model.predict(np.zeros((1, 4)))[0] < 11
    again = PolicyEvaluator(0.9, features="one-hot", never_left="terminal")
    lake = innermean.rollout(gymnasium.make("FrozenLake-v1"), steps=500, seed=1)
    again.fit(
        lake.state,
        next_states=lake.next_state,
        rewards=lake.reward,
        terminated=lake.terminated,
    )
    assert pickle.loads(pickle.dumps(again)).predict([0]).tobytes() == again.predict([0]).tobytes()


@pytest.mark.parametrize(
    ("settings", "told", "said"),
    [
        ({"discount": 2.0}, {}, "discount"),
        ({"objective": "best"}, {}, "best"),
        ({"features": "tiles"}, {}, "features"),
        ({}, {"rewards": [1.0]}, "y|rewards|inconsistent"),
        ({}, {"next_states": [[1.0]]}, "next_states"),
        ({}, {"terminated": [True]}, "terminated: expected length 3"),
        ({}, {"episodes": [1]}, "episodes"),
    ],
)
def test_input_that_makes_no_sense_is_refused(settings, told, said):
    rows = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match=said):
        PolicyEvaluator(**settings).fit(rows, **({"rewards": [1.0, 0.0, 1.0]} | told))


def test_a_state_that_is_not_in_the_log(log):
    states, after, rewards, ends = log
    told = {"next_states": after, "rewards": rewards, "terminated": ends}
    model = PolicyEvaluator(0.9, features="one-hot").fit(states, **told)
    with pytest.raises(ValueError, match="'9' is not in the log"):
        model.predict([9])
