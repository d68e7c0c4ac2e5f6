"""Channels, levels and programs that the checks of randomised response share."""
