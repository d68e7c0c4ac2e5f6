"""What the checks of two claims or more need."""
