"""The rehearsal itself: a configuration deployed to the embedded AWS, changed, and destroyed."""
