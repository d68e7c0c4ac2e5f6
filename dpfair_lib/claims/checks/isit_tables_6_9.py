"""ISIT, Tables VI–IX: accountant moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpfair_lib.claims.checks import printed_means
from dpfair_lib.claims.checks.printed_means import judge_tables, weight_delta
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.isit.twelve_tables_summary import beside_printed, chance_gap, chance_share

FAULTS = printed_means.FAULTS


def check(
    *,
    beside: Callable[..., Any] = beside_printed,
    chance: Callable[..., float] = chance_gap,
    share: Callable[..., float] = chance_share,
    leak: Callable[..., float] = weight_delta,
    search: Search,
) -> Evidence:
    """Judge the means of these four tables."""
    return judge_tables("moments", search, beside=beside, chance=chance, share=share, leak=leak)
