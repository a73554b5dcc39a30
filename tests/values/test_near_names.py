"""A name that is nearly ours is an error that tells the right one; others' names are theirs."""

from __future__ import annotations

import pytest

from ctxmw import InvalidValue
from ctxmw.values.near_names import check_names

NAMES = ("user_id", "session_id", "thread_id", "project", "cwd", "learn")
LANGGRAPH = (
    "thread_ts checkpoint_id checkpoint_ns checkpoint_map run_id graph_id assistant_id revision_id"
    " langgraph_auth_user langgraph_auth_user_id langgraph_auth_permissions langgraph_request_id"
    " langgraph_version langgraph_api_url __pregel_runtime __pregel_thread_id"
    " __request_start_time_ms__ host plan node_id recursion_limit max_concurrency durability"
).split()
APPLICATIONS = (
    "user user_name user_uid user_uuid user_idx user_ids users use_id ser_id uber_id usage_id"
    " superuser_id session sessions session_ids session_uid season_id version_id mission_id"
    " lesson_id sessions_id thread threads thread_ids threat_id tread_id thead_id head_id"
    " projects project_id project_name projekt projet protect product prospect object subject"
    " prefect reject cmd pwd cd cw wd cwds code pwds lean earn yearn learns learner learning_rate"
    " team tenant_id org_id model model_name temperature language locale id uid key ctx context"
).split()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("projct", "project"),
        ("porject", "project"),
        ("projecct", "project"),
        ("proyect", "project"),
        ("Project", "project"),
        ("usre_id", "user_id"),
        ("usr_id", "user_id"),
        ("user_di", "user_id"),
        ("userId", "user_id"),
        ("uesrId", "user_id"),
        ("usreid", "user_id"),
        ("thred_id", "thread_id"),
        ("therad_id", "thread_id"),
        ("sesion_id", "session_id"),
        ("sessoin_id", "session_id"),
        ("cdw", "cwd"),
        ("CWD", "cwd"),
        ("lern", "learn"),
        ("laern", "learn"),
        ("ctxmw_projct", "project"),
        ("CTXMW_PROJECT", "project"),
        ("ctxwm_project", "project"),
        ("ctxmw", "it takes user_id, session_id"),
        ("ctxmw_zzz", "it takes user_id, session_id"),
    ],
)
def test_one_slip_is_an_error_that_names_what_was_meant(said, meant):
    with pytest.raises(InvalidValue, match=rf"the call has '{said}', which .*{meant}"):
        check_names({said: "x"}, NAMES, "the call")


@pytest.mark.parametrize("name", [*LANGGRAPH, *APPLICATIONS])
def test_names_of_frameworks_and_applications_are_theirs(name):
    check_names({name: "x"}, NAMES, "the call")


def test_what_could_not_be_meant_for_us_is_not_ours():
    check_names({"projct": ["a", "b"], "usre_id": None, "thred_id": {"a": 1}}, NAMES, "the call")


def test_where_ours_is_told_too_another_name_is_another_thing():
    check_names({"projct": "x", "project": "shop"}, NAMES, "the call")


def test_what_is_said_elsewhere_is_not_meant_by_another_name():
    check_names({"userId": 7}, NAMES, "the call", said=["user_id"])
    with pytest.raises(InvalidValue, match="'user_id'"):
        check_names({"userId": 7}, NAMES, "the call", said=["thread_id"])


def test_keys_that_are_no_text_are_left_alone():
    check_names({3: "x", ("user", "id"): "y"}, NAMES, "the call")
