"""Write certificates of optimal channels as Coq files, whose theorems the kernel accepts.

Without arguments those of the stored instances, into proofs/Certificates; with --json one of a user.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import proofs
from dpfair_lib import optimal_randomizer
from dpfair_lib._files import write_whole
from dpfair_lib.local import ExactCertificate, check_exact

SIZES = (3, 5, 10, 20, 50)
CLOSE = Fraction(1, 10**9)
"""How near the bound has to be to the value."""


def instance(k: int) -> tuple[list[Fraction], list[Fraction], float, float | None]:
    """Return shares, rates, ε and budget; for three groups those of the irrational optimum."""
    if k == 3:
        return [Fraction(1, n) for n in (2, 3, 6)], [Fraction(n, 2) for n in range(3)], math.log(2), 0.5
    rng = random.Random(k)
    weights = [rng.randint(1, 20) for _ in range(k)]
    return (
        [Fraction(w, sum(weights)) for w in weights],
        [Fraction(rng.randint(0, 20), 20) for _ in range(k)],
        2.0,
        None,
    )


def certified(k: int) -> ExactCertificate:
    """Return the certificate of the stored instance of k groups."""
    p, p1, epsilon, error = instance(k)
    return optimal_randomizer(
        p, p1, epsilon, error=error, certificate="exact", time_limit=math.inf
    ).certificate


def _row(values: Iterable[int]) -> str:
    return "[" + "; ".join(map(str, values)) + "]"


def _written(value: Any) -> str:
    if isinstance(value, int):
        return f"{value}" if value >= 0 else f"({value})"
    if value and isinstance(value[0], tuple):
        return "[" + ";\n    ".join(map(_row, value)) + "]"
    return _row(value)


def _record(name: str, kind: str, c: ExactCertificate, parts: Iterable[str], before: str = "") -> str:
    inside = ";\n  ".join(f"{part} := {_written(getattr(c, part))}" for part in parts)
    return f"Definition {name} : {kind} := ({{|\n  {before}{inside}\n|}})%Z.\n"


def as_coq(c: ExactCertificate, name: str) -> str:
    """Return a Coq file that states what the certificate proves, and has the kernel check it."""
    close = f"(1 # {CLOSE.denominator})"
    parts = [
        "(** Written by tools/proof_certificates.py: a nearly optimal channel, checked by the kernel. *)\n",
        "From Checked Require Import Certificates.Channels.\n",
        _record(
            f"instance_{name}", "instance", c,
            ("weights", "positives", "rate_unit", "x_low", "x_high", "x_unit", "budget", "budget_unit"),
            before=f"groups := {c.k}%nat;\n  ",
        ),
        _record(f"channel_{name}", "found", c, ("entries", "entry_unit", "reached", "reached_unit")),
        _record(
            f"proof_{name}", "multipliers", c,
            ("level", "level_unit", "above", "below", "of_truth", "of_rows", "of_diagonal", "column_caps", "row_caps"),
        ),
        f"Theorem optimum_{name} : certified instance_{name} channel_{name} proof_{name}.\n"
        "Proof. apply channels_checker_sound. vm_compute. reflexivity. Qed.\n",
        f"Theorem optimum_{name}_close : value_reached channel_{name} - level_of proof_{name} <= {close}.\n"
        "Proof. apply Qle_bool_iff. vm_compute. reflexivity. Qed.\n",
    ]  # fmt: skip
    return "\n".join(parts)


def main() -> None:
    """Write one certificate, or all stored instances."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="a certificate, as ExactCertificate.to_json wrote it")
    parser.add_argument(
        "--into", type=Path, default=proofs.ROOT / proofs.SOURCES / "Certificates", help="folder"
    )
    arguments = parser.parse_args()
    found = {str(k): None for k in SIZES}
    if arguments.json:
        found = {arguments.json.stem: ExactCertificate.from_json(arguments.json.read_text(encoding="utf-8"))}
    for name, given in found.items():
        certificate = given or certified(int(name))
        gap = check_exact(certificate)
        write_whole(arguments.into / f"Optimum{name}.v", as_coq(certificate, name))
        print(
            f"Optimum{name}.v: {certificate.k} groups, Δ = {float(certificate.value):.9f}, gap {float(gap):.1e}"
        )


if __name__ == "__main__":
    main()
