"""Real engines as processes of a test run; they know nothing of what is tested on them."""
