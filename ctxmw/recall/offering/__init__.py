"""What an application offers: items, tools as frameworks have them, and what is called for."""
