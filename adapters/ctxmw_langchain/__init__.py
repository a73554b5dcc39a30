"""LangChain: wrap any runnable, a middleware for agents, and mem_search as a tool."""
