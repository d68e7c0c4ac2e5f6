"""One module per examined claim: its `check`, and the `FAULTS` that the check must reject."""
