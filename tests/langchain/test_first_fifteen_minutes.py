"""What a team writes in its first fifteen minutes: two users, two threads, a project, 30 lines."""

from __future__ import annotations

from pathlib import Path

from tests.support.openai_stub import OpenAIStub

SCRIPT = """
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextAgentMiddleware

ctx = ContextMiddleware.open("memory.db", user=None, project="shop")
agent = create_agent(
    ChatOpenAI(model="gpt-4o-mini"),
    system_prompt="You help the shop's team.",
    middleware=[ContextAgentMiddleware(ctx)],
    checkpointer=InMemorySaver(),
)


def ask(user, thread, text):
    config = {"configurable": {"user_id": user, "thread_id": f"{user}/{thread}"}}
    return agent.invoke({"messages": [("user", text)]}, config)["messages"][-1].text


ask("ada", "monday", "I prefer window seats.")
ask("bob", "monday", "I prefer aisle seats.")
ctx.remember("Ship on Tuesdays.", kind="decision", scope="project:shop", user="ada")
ask("ada", "friday", "Which seat do I like?")

shown = ctx.session("ada/friday", user="ada").history()[-1].text
assert "window seats" in shown and "Ship on Tuesdays." in shown
assert "aisle" not in shown
ctx.close()
"""


def test_the_script_runs_as_it_stands(tmp_path, monkeypatch):
    assert len([line for line in SCRIPT.splitlines() if line.strip()]) <= 30
    monkeypatch.chdir(tmp_path)
    with OpenAIStub() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        exec(compile(SCRIPT, "first.py", "exec"), {})
    assert len(server.requests) == 3
    assert Path("memory.db").exists()
