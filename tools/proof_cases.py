"""Compute the Coq definitions and the library's functions on the same rational cases, and compare the answers.

The answers of both are fractions, and must be equal. What Coq answered is recorded by its digest, so that a change of
the library is noticed where Coq is not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

from proof_draws import Answers, Pair
from proof_pairs import pairs

import proofs
from dpfair_lib._files import write_whole

RECORD = "results/proof-cases.json"
CASES, SEED = 1000, 2024


def cases(pair: Pair, count: int = CASES) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of each case; the same ones in every run."""
    rng = random.Random(f"{SEED} {pair.name}")
    for _ in range(count):
        yield pair.draw(rng)


def digest(answers: Sequence[Answers]) -> str:
    """Return the SHA-256 of all answers, as text."""
    text = "\n".join(" ".join(f"{v.numerator}/{v.denominator}" for v in answer) for answer in answers)
    return hashlib.sha256(text.encode()).hexdigest()


def by_library(pair: Pair, count: int = CASES) -> list[list[Fraction]]:
    """Return the library's answer to each case."""
    return [[Fraction(value) for value in pair.library(*arguments)] for arguments in cases(pair, count)]


def by_coq(pair: Pair, build: Path, count: int = CASES) -> list[list[Fraction]]:
    """Return Coq's answer to each case, computed by its virtual machine."""
    drawn = list(cases(pair, count))
    lines = [
        "From Coq Require Import List QArith.",
        f"From Checked Require Import {pair.file.removesuffix('.v').replace('/', '.')}.",
        "Set Printing Width 1000000. Set Printing Depth 1000000.",
        "Definition shown (l : list Q) : list Z :=",
        "  flat_map (fun v => Qnum (Qred v) :: Zpos (Qden (Qred v)) :: nil)%list l.",
        "Open Scope Q_scope.",
        *(
            f"Definition case_{i} : list Q := {pair.coq(*arguments)}%list."
            for i, arguments in enumerate(drawn)
        ),
        "Open Scope Z_scope.",
        "Eval vm_compute in (" + " :: ".join(f"shown case_{i}" for i in range(count)) + " :: nil)%list.",
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Cases.v"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = proofs.run(["coqc", "-R", ".", proofs.NAME, str(file)], build)
    return read_answers(said)


def read_answers(said: str) -> list[list[Fraction]]:
    """Return the numbers that Coq has printed: a list of lists, each of numerators and denominators in turn."""
    body = said[said.index("=") : said.rindex(": list")]
    answers = []
    for inner in re.findall(r"[(\[]([^()\[\]]*)[)\]]", body):
        numbers = [int(number) for number in re.findall(r"-?\d+", inner)]
        answers.append([Fraction(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)])
    return answers


def disagreements(pair: Pair, coq: Sequence[Answers], library: Sequence[Answers]) -> list[str]:
    """Return each case whose two answers differ, in words."""
    if len(coq) != len(library):
        return [f"{pair.name}: Coq gave {len(coq)} answers, the library {len(library)}"]
    triples = zip(cases(pair, len(coq)), coq, library, strict=True)
    return [
        f"{pair.name}{arguments}: Coq {a}, library {b}" for arguments, a, b in triples if list(a) != list(b)
    ]


def complaints_about_record(root: Path) -> list[str]:
    """Return where the record, the map, the sources and the library disagree; Coq is not needed."""
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    now, wrong = proofs.digests(root), []
    named = {
        name: place for entry in proofs.parts(root) for name, place in entry.get("stands_for", {}).items()
    }
    held = {pair.name: pair for pair in pairs()}
    for name in sorted(named.keys() ^ held.keys()):
        wrong.append(f"{name}: in the map or among the pairs, but not in both")
    for name, pair in held.items():
        found = record["definitions"].get(name)
        if found is None:
            wrong.append(f"{name}: not in the record; run tools/proof_cases.py --store")
            continue
        if found["function"] != pair.function or named.get(name, pair.function) != pair.function:
            wrong.append(f"{name}: found {found['function']}, expected {named.get(name)}")
        if found["cases"] < CASES:
            wrong.append(f"{name}: found {found['cases']} cases, expected at least {CASES}")
        if found["source"] != now[pair.file] or record["numbers"] != now["Base/Numbers.v"]:
            wrong.append(
                f"{name}: {pair.file} changed since Coq computed it; run tools/proof_cases.py --store"
            )
        if found["answers"] != digest(by_library(pair)):
            wrong.append(f"{name}: {pair.function} answers otherwise than Coq did")
    return wrong


def main() -> None:
    """Compute every case by Coq and by the library; write the record on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--root", type=Path, default=proofs.ROOT, help="the repository, built by tools/proofs.py"
    )
    parser.add_argument("--store", action="store_true", help="write the record")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if proofs.coq_version() is None:
        wrong = complaints_about_record(root)
        sys.exit("\n".join(wrong)) if wrong else print(
            f"Coq is not installed; the library answers as {RECORD} says"
        )
        return
    now, found, wrong = proofs.digests(root), {}, []
    with ThreadPoolExecutor(proofs.jobs()) as pool:
        answers = pool.map(lambda pair: by_coq(pair, root / proofs.BUILD), pairs())
    for pair, coq in zip(pairs(), answers, strict=True):
        library = by_library(pair)
        wrong += disagreements(pair, coq, library)
        found[pair.name] = {
            "function": pair.function,
            "cases": len(coq),
            "numbers": sum(map(len, coq)),
            "source": now[pair.file],
            "answers": digest(coq),
        }
        print(f"{pair.name}: {len(coq)} cases, {sum(map(len, coq))} numbers, {pair.function}")
    if wrong:
        sys.exit("\n".join(wrong[:20]))
    record = {
        "coq": proofs.coq_version(),
        "seed": SEED,
        "numbers": now["Base/Numbers.v"],
        "definitions": found,
    }
    if arguments.store:
        write_whole(root / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    wrong = complaints_about_record(root)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
