"""Samples and judgements that the checks of certificates share."""
