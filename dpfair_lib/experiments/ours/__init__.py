"""Our own experiments: audits of everything that this library releases."""
