"""Pieces of pages: Markdown, thumbs, a memory's timeline, conversations as files."""
