"""The worker: takes hints from the lanes, claims tasks, runs them, and acknowledges what became of them."""
