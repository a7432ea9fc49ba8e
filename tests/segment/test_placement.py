"""Placement: the device, threads and runtime of a call, from one argument."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

import pychunk
from pychunk import Placement


def test_the_name_of_a_device_alone_is_a_placement() -> None:
    assert Placement.of(None) == Placement() == Placement("auto", None, "auto", "auto")
    assert Placement.of("cuda:1") == Placement(device="cuda:1")
    given = Placement(threads=2, runtime="torch")
    assert Placement.of(given) is given


@pytest.mark.parametrize("value", [2, True, {"threads": 2}, ("cpu",)])
def test_something_else_is_refused_by_every_call(value: object) -> None:
    said = "placement must be a pychunk.Placement or the name of a device; got "
    with pytest.raises(TypeError, match=said):
        Placement.of(value)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(TypeError, match=said):
        pychunk.segment("Cats purr.", placement=value)  # type: ignore[arg-type]  # what is refused


def test_a_wrong_number_of_threads_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="threads must be a whole number of at least 1; got 0"):
        Placement(threads=0)


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        ("gpu", "device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got 'gpu'"),
        (Placement(runtime="jax"), "runtime must be"),  # type: ignore[arg-type]
        (Placement(precision="int4"), "precision must be"),  # type: ignore[arg-type]
    ],
)
def test_unknown_names_are_refused_by_the_call(placement: Placement | str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pychunk.segment("Cats purr.", placement=placement)


def test_a_segmenter_keeps_its_placement_when_it_is_pickled() -> None:
    made = pychunk.Segmenter("sentence", placement=Placement(threads=2))
    again = pickle.loads(pickle.dumps(made))
    assert (made.threads, again.threads) == (2, 2)
    assert again.options["placement"] == Placement(threads=2)
    assert "threads=2" in repr(again)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.options["placement"].threads = 3
