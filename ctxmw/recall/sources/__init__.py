"""Where items come from: each source turns a situation into items and knows nothing of prompts."""
