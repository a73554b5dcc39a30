"""An agent with two users, two threads and a project, right after installing ctxmw[agents]."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextAgentMiddleware

with ContextMiddleware.open("shop.db", user=None, project="shop") as ctx:
    agent = create_agent(
        ChatOpenAI(model="gpt-4o-mini"),
        tools=[],
        system_prompt="You help to build a shop.",
        middleware=[ContextAgentMiddleware(ctx)],
        checkpointer=InMemorySaver(),
    )

    def ask(user: str, thread: str, text: str) -> str:
        config = {"configurable": {"user_id": user, "thread_id": f"{user}/{thread}"}}
        said = agent.invoke({"messages": [("user", text)]}, config)["messages"][-1]
        return said.response_metadata["ctxmw"]["record"]

    ask("ada", "monday", "I prefer short answers. We decided to keep sessions in Redis.")
    ask("bob", "monday", "I prefer long answers with examples.")
    for user in ("ada", "bob"):
        record = ask(user, "tuesday", "Where do we keep sessions?")
        print(user, ctx.why(record, user=user).text)
