"""Windows of known models; others have none."""

from __future__ import annotations

import pytest

from ctxmw import known_window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1-nano", 1_047_576),
        ("gpt-5", 400_000),
        ("gpt-4", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("o3-mini", 200_000),
        ("anthropic/claude-sonnet-4-5", 200_000),
        ("models/gemini-2.5-flash", 1_048_576),
        ("meta-llama/Llama-3.1-8B-Instruct", 128_000),
        ("llama3", 8_192),
        ("mistral-large-latest", 128_000),
        ("deepseek-chat", 128_000),
        ("foo3-large", None),
        ("my-own-model", None),
        ("", None),
        (None, None),
    ],
)
def test_a_window_is_known_by_the_models_name(model, window):
    assert known_window(model) == window
