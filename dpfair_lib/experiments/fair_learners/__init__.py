"""Private and fair learners side by side, at the same certified privacy."""
