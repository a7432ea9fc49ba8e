"""The noise network in the native core: its sums equal those of its NumPy twin, which also handles its refusals."""

import pickle

import numpy as np
import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")

from instruction_sets import printed_by_each

from pychunk._engine import native
from pychunk._engine.reference.parsing import noise_net
from pychunk.parsing.html import noise_features, noise_model
from pychunk.parsing.html.page import parse_html


def test_layers_are_exact_whatever_the_order_of_addition() -> None:
    drawn = np.random.default_rng(3)
    values = np.rint(drawn.uniform(-8, 8, (50, 300)) * 256) / 256
    weights = np.rint(drawn.uniform(-4, 4, (300, 20)) * 1024) / 1024
    bias = np.rint(drawn.uniform(-4, 4, 20) * 1024) / 1024
    found = noise_net._layer(values, (weights, bias))
    order = drawn.permutation(300)
    assert found.tobytes() == noise_net._layer(values[:, order], (weights[order], bias)).tobytes()
    whole = (values * 256).astype(np.int64) @ (weights * 1024).astype(np.int64) + (bias * 256 * 1024).astype(np.int64)
    assert np.array_equal(found, np.rint(np.clip(whole / (256 * 1024), 0, 64) * 256) / 256)


def test_networks_beyond_whole_numbers_are_left_to_numpy() -> None:
    model = noise_model.load()
    arrays = dict(np.load(noise_model.SHIPPED / noise_model.WEIGHTS))
    assert model.is_small
    page = parse_html("<h1>One</h1><p>two three</p>")
    features = noise_features.noise_features(page.blocks, page.facts, page.text)
    arrays["0_mix_weight"] = np.full_like(arrays["0_mix_weight"], 2000)
    large = noise_model.NoiseModel.of(arrays, model.facts)
    assert not large.is_small
    assert large.content(features).shape == (2,)
    arrays["0_mix_weight"] = np.full_like(arrays["0_mix_weight"], 700)  # 184 times 64, which is nearly 2^31
    near = noise_model.NoiseModel.of(arrays, model.facts)
    assert near.is_small
    assert near.sums(features, "native").tobytes() == near.sums(features, "reference").tobytes()


def test_several_networks_are_summed() -> None:
    model = noise_model.load()
    arrays = dict(np.load(noise_model.SHIPPED / noise_model.WEIGHTS))
    drawn = np.random.default_rng(5)
    for name in [name for name in arrays if name.startswith("0_")]:
        arrays["1" + name[1:]] = drawn.permutation(arrays[name].ravel()).reshape(arrays[name].shape)
    arrays["nets"] = np.int64(2)
    both = noise_model.NoiseModel.of(arrays, model.facts)
    page = parse_html("<h1>One</h1><nav><a>two</a> three</nav>" + "<p>four, five and six</p>" * 30)
    features = noise_features.noise_features(page.blocks, page.facts, page.text)
    assert both.sums(features, "native").tobytes() == both.sums(features, "reference").tobytes()


def test_instruction_sets_agree() -> None:
    code = """
import numpy as np
from pychunk.parsing.html import noise_features, noise_model
from pychunk.parsing.html.page import parse_html

page = parse_html("<h1>One</h1><nav class=menu><a>two</a> three</nav>" + "<p id=body>four, five and six</p>" * 30)
features = noise_features.noise_features(page.blocks, page.facts, page.text)
print(noise_model.load().sums(features).tolist())
"""
    assert len(printed_by_each(code)) == 1


def test_a_model_that_was_used_can_be_sent_to_another_process() -> None:
    page = parse_html("<h1>One</h1><p>two three</p>")
    features = noise_features.noise_features(page.blocks, page.facts, page.text)
    model = noise_model.NoiseModel()
    sums = model.sums(features)
    assert pickle.loads(pickle.dumps(model)).sums(features).tobytes() == sums.tobytes()


@pytest.mark.parametrize(
    ("shares", "groups", "message"), [(0, 0, "must have an output"), (1, -1, "groups must be 0"), (1, 1, "takes")]
)
def test_layers_that_do_not_fit_are_refused(shares: int, groups: int, message: str) -> None:
    def layer(outputs: int, inputs: int) -> tuple:
        return np.zeros((outputs, inputs), np.int16), np.zeros(outputs, np.int32)

    words = [(np.array([7], np.uint32), np.zeros((1, 2), np.int16))] * 4
    net = [layer(4, 10), layer(shares, 4), layer(4, 4 + 3 * shares), layer(shares, 4), layer(4, 4 + 3 * shares)]
    with pytest.raises(ValueError, match=message):
        native.noise_network(
            vocabulary=words, neighbours=[1], windows=[], nets=[[*net, layer(1, 4), layer(1, 4)]], groups=groups
        )
