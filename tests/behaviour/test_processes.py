"""No process outlives the test that started it, and who left one behind is named."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time

import pytest

from tests.support.processes import Processes, running

STAYS = [sys.executable, "-c", "print('here', flush=True); input()"]
ENDS = [sys.executable, "-c", "print('here')"]


@pytest.fixture
def known():
    made = Processes()
    with made.noticed():
        yield made


def leave(command) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_what_still_runs_is_ended_and_whoever_left_it_is_blamed(known):
    with pytest.raises(AssertionError, match=r"input.* ran"), known.ended():
        left = leave(STAYS)
    assert left.returncode == -9
    assert left.stdin.closed
    assert left.stdout.closed


def test_pipes_that_stay_open_are_closed_and_blamed_too(known):
    with pytest.raises(AssertionError, match="had ended, with its pipes open"), known.ended():
        assert leave(ENDS).wait() == 0


def test_a_failure_is_told_and_what_it_left_is_ended(known):
    left = []
    with pytest.raises(ZeroDivisionError), known.ended():
        left.append(leave(STAYS)) or 1 // 0
    assert left[0].returncode == -9


def test_a_worker_of_multiprocessing_is_ended_too(known):
    spawn = multiprocessing.get_context("spawn")
    child = spawn.Process(target=time.sleep, args=(3600,))
    with pytest.raises(AssertionError, match="SpawnProcess"), known.ended():
        child.start()
    assert child.exitcode == -9


def test_what_another_owns_is_left_to_it(known):
    with known.ended():
        with known.of_another():
            kept = leave(STAYS)
    assert kept.poll() is None
    kept.communicate(b"\n")


def test_who_cleans_up_is_not_blamed(known):
    with known.ended():
        leave(STAYS).communicate(b"\n")
        with running(*STAYS) as process:
            assert process.stdout.readline() == "here\n"
        assert process.returncode == -15


def test_a_process_that_runs_for_a_block_ends_with_it_though_it_fails():
    with pytest.raises(ZeroDivisionError), running(*STAYS) as process:
        raise ZeroDivisionError
    assert process.returncode == -9
