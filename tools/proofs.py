"""Build the Coq proofs, check them with an independent checker, and hold them to the recorded result.

Without Coq nothing is built: the sources are compared with the record alone.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dpfair_lib._files import write_whole

ROOT = Path(__file__).resolve().parents[1]
SOURCES, RECORD, BUILD = "proofs", "results/proofs.json", "_build/proofs"
MARKS = "dpfair_lib/claims/proved.py"  # what badges say
NAME = "Checked"  # the logical name of the folder
TARGETS = ("coqc", "coqchk", "coq_makefile")
ALLOWED = (
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
)
"""What the standard library's real numbers rest on. Theorems about fractions need none of it."""
LOADED = (*ALLOWED, "Classical_Prop.classic")
"""What the independent checker may list: all axioms that are loaded, used or not. No theorem may use the last."""
COMPUTED = ("Certificates/Optimum20.v", "Certificates/Optimum50.v")
"""Sources that only the kernel checks: it has a virtual machine; the independent checker would need minutes."""
FORBIDDEN = (
    *("Admitted", "admit", "give_up", "Abort", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture"),
    *("Hypothesis", "Hypotheses", "Variable", "Variables", "bypass_check", "Guard Checking"),
    *("Positivity Checking", "Universe Checking", "Declare ML Module", "Load", "Add LoadPath", "Redirect"),
    *("Extract Constant", "Primitive"),
)
"""What would let a statement through unproved, or hide that one was."""
DEFINES = r"\b(?:Definition|Fixpoint|Record|Inductive)\s+([\w']+)"
STARTS = r"(?:Theorem|Lemma|Corollary|Fact|Example|Proposition)"


def without_comments(text: str) -> str:
    """Return a Coq source without its comments, which nest."""
    kept, depth, at = [], 0, 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "(*":
            depth, at = depth + 1, at + 2
        elif two == "*)" and depth:
            depth, at = depth - 1, at + 2
        else:
            kept.append(text[at] if not depth else "\n" * (text[at] == "\n"))
            at += 1
    return "".join(kept)


def open_section(text: str) -> str | None:
    """Return the section that is open at the end of a text; what stands in it has more hypotheses than it shows."""
    opened: list[str] = []
    for kind, name in re.findall(r"\b(Section|End)\s+([\w']+)\s*\.", text):
        if kind == "Section":
            opened.append(name)
        elif name in opened:
            opened.remove(name)
    return opened[-1] if opened else None


def sources(root: Path) -> list[str]:
    """Return the source files of the project file, in its order."""
    lines = (root / SOURCES / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.endswith(".v")]


def entries(root: Path) -> list[dict[str, Any]]:
    """Return the entries of the map from the ledger to the theorems."""
    return tomllib.loads((root / SOURCES / "map.toml").read_text(encoding="utf-8"))["entry"]


def parts(root: Path) -> list[dict[str, Any]]:
    """Return the entries and the checkers of the map."""
    checkers = tomllib.loads((root / SOURCES / "map.toml").read_text(encoding="utf-8")).get("checker", [])
    return [*entries(root), *checkers]


def module_of(file: str) -> str:
    """Return the logical name of a source file."""
    return f"{NAME}.{file.removesuffix('.v').replace('/', '.')}"


def listed(root: Path) -> dict[str, str]:
    """Return each theorem and fault of the map by its full name, with the file that states it."""
    found = {}
    for entry in parts(root):
        names = [name for theorem in entry["theorem"] for name in (theorem["name"], *theorem["faults"])]
        for name in (*names, *entry.get("also", ())):
            found[f"{module_of(entry['file'])}.{name}"] = entry["file"]
    return found


def digests(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every source file and of the project file."""
    files = ["_CoqProject", *sources(root)]
    return {file: hashlib.sha256((root / SOURCES / file).read_bytes()).hexdigest() for file in files}


def complaints_about_sources(root: Path) -> list[str]:
    """Return what is wrong with the sources and the map, without running Coq."""
    wrong = []
    named, found = sources(root), sorted(p for p in (root / SOURCES).rglob("*.v"))
    for path in found:
        if path.relative_to(root / SOURCES).as_posix() not in named:
            wrong.append(f"{path.name}: not in _CoqProject, so that nothing checks it")
    texts = {}
    for file in named:
        path = root / SOURCES / file
        if not path.exists():
            wrong.append(f"{file}: named in _CoqProject, but not there")
            continue
        texts[file] = without_comments(path.read_text(encoding="utf-8"))
        for word in FORBIDDEN:
            if word in texts[file] and re.search(rf"(?<![\w'.]){re.escape(word)}(?![\w'])", texts[file]):
                wrong.append(f"{file}: found {word!r}, which is forbidden")
    wrong += [line for entry in parts(root) for line in _complaints_about_entry(entry, texts)]
    return wrong


def _complaints_about_entry(entry: dict[str, Any], texts: dict[str, str]) -> list[str]:
    """Return what is wrong with one entry of the map."""
    wrong, text = [], texts.get(entry["file"], "")
    defined = {name for each in texts.values() for name in re.findall(DEFINES, each)}
    names = [name for theorem in entry["theorem"] for name in (theorem["name"], *theorem["faults"])]
    for name in (*names, *entry.get("also", ())):
        stated = re.search(rf"\b{STARTS}\s+{re.escape(name)}\b", text)
        if not stated:
            wrong.append(f"{name}: in the map, but {entry['file']} does not state it")
        elif section := open_section(text[: stated.start()]):
            wrong.append(f"{name}: stated in the section {section}, whose context its text does not show")
    for theorem in entry["theorem"]:
        if len(theorem["faults"]) < 2:
            wrong.append(
                f"{theorem['name']}: found {len(theorem['faults'])} planted faults, expected at least 2"
            )
        about = []
        for name in (theorem["name"], *theorem["faults"]):
            stated = re.search(rf"\b{STARTS}\s+{re.escape(name)}\b(.*?)Proof", text, re.DOTALL)
            about.append(defined & set(re.findall(r"[\w']+", stated[1])) if stated else set())
            if stated and name in theorem["faults"] and not re.match(r"\s*:\s*~", stated[1]):
                wrong.append(f"{name}: a planted fault, but its statement is no negation")
        if not any(about[0] & fault for fault in about[1:]):
            wrong.append(f"{theorem['name']}: no planted fault is about a definition that its statement uses")
    for part in ("here", "printed", "difference") if "about" not in entry else ():
        if not entry.get(part):
            wrong.append(f"{entry['claim']}: the map does not say {part!r}")
    return wrong


def complaints_about_record(root: Path) -> list[str]:
    """Return where the record and the sources disagree."""
    path = root / RECORD
    if not path.exists():
        return [f"{RECORD}: missing; run make proofs STORE=1 where Coq is installed"]
    record, now, stated = json.loads(path.read_text(encoding="utf-8")), digests(root), listed(root)
    wrong = [
        f"{file}: changed since the record was made; run make proofs STORE=1"
        for file in sorted(now.keys() | record["sources"].keys())
        if now.get(file) != record["sources"].get(file)
    ]
    wrong += [
        f"{name}: in the map, but not in the record" for name in stated if name not in record["theorems"]
    ]
    wrong += [
        f"{name}: in the record, but not in the map" for name in record["theorems"] if name not in stated
    ]
    for name, axioms in record["theorems"].items():
        wrong += [
            f"{name}: rests on {axiom}, which is not allowed" for axiom in axioms if axiom not in ALLOWED
        ]
    wrong += [
        f"the checker found {one}, which is not allowed" for one in record["axioms"] if not _loaded(one)
    ]
    if not wrong and (root / MARKS).read_text(encoding="utf-8") != marks(root, record["theorems"]):
        wrong.append(f"{MARKS}: says otherwise than map and record; run make proofs STORE=1")
    return wrong


def _loaded(axiom: str) -> bool:
    """Return whether an axiom, under its full name, is one that comes with the real numbers."""
    return any(axiom == one or axiom.endswith(f".{one}") for one in LOADED)


def coq_version() -> str | None:
    """Return the version of Coq, or None where a part of it is missing."""
    if not all(shutil.which(target) for target in TARGETS):
        return None
    said = subprocess.run(["coqc", "--print-version"], capture_output=True, text=True, check=True).stdout
    return said.split()[0]


def jobs() -> int:
    """Return how many Coqs may run side by side: JOBS, or two where there are two processors."""
    return int(os.environ.get("JOBS", min(2, os.cpu_count() or 1)))


def copy_sources(root: Path) -> Path:
    """Copy what has changed into the build folder, and remove what is no longer there."""
    build = root / BUILD
    build.mkdir(parents=True, exist_ok=True)
    for file in ("_CoqProject", *sources(root)):
        target, text = build / file, (root / SOURCES / file).read_bytes()
        if not target.exists() or target.read_bytes() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
    for old in build.rglob("*.v"):
        if old.relative_to(build).as_posix() not in sources(root):
            for leftover in old.parent.glob(f"{old.stem}.*"):
                leftover.unlink()
    return build


def run(command: list[str], where: Path) -> str:
    """Run a command and return what it says; end here with its words if it fails."""
    done = subprocess.run(
        command, cwd=where, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command[:2])} failed:\n{done.stdout}")
    return done.stdout


def axioms_of(root: Path, build: Path) -> dict[str, list[str]]:
    """Return the axioms that each theorem of the map rests on, as Coq prints them.

    Coq is asked about each file's theorems together, and about single ones only where they rest on something.
    """
    together: dict[str, list[str]] = {}
    for name, file in listed(root).items():
        together.setdefault(file, []).append(name)
    said = _assumptions(build, {file: f"({', '.join(names)}, tt)" for file, names in together.items()})
    single = {name: name for file, names in together.items() if said[file] for name in names}
    apart = _assumptions(build, single) if single else {}
    return {name: apart.get(name, []) for name in listed(root)}


def _assumptions(build: Path, terms: dict[str, str]) -> dict[str, list[str]]:
    """Return the axioms that each term rests on, by its name."""
    files = [path.relative_to(build).as_posix() for path in sorted(build.rglob("*.vo"))]
    modules = [module_of(file.removesuffix("o")) for file in files]
    lines = ["Require Import Coq.Strings.String.", f"Require {' '.join(modules)}."]
    for at, (name, term) in enumerate(terms.items()):
        lines += [
            f"Definition asked_{at} := {term}.",
            f'Eval compute in "{name}"%string.',
            f"Print Assumptions asked_{at}.",
        ]
    (build / "Assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = run(["coqc", "-R", ".", NAME, "Assumptions.v"], build)
    for leftover in (*build.glob("Assumptions.*"), build / ".Assumptions.aux"):
        leftover.unlink(missing_ok=True)
    parts = re.split(r'^\s*= "([^"]+)"(?:%string)?\s*^\s*: string\s*$', said, flags=re.MULTILINE)
    found = {}
    for name, answer in zip(parts[1::2], parts[2::2], strict=True):
        closed = "Closed under the global context" in answer
        found[name] = (
            [] if closed else re.findall(r"^([\w.']+)\s*:", answer.replace("Axioms:", ""), re.MULTILINE)
        )
        if not closed and not found[name]:
            sys.exit(f"{name}: cannot read what it rests on:\n{answer}")
    missing = terms.keys() - found.keys()
    if missing:
        sys.exit(f"Coq said nothing about {', '.join(sorted(missing))}")
    return found


def axioms_of_the_checker(said: str) -> list[str]:
    """Return the axioms that the independent checker lists for all files together."""
    block = re.search(r"^\* Axioms:(.*?)(?=^\*|\Z)", said, re.DOTALL | re.MULTILINE)
    if block is None:
        sys.exit(f"coqchk lists no axioms:\n{said}")
    for line in ("relying on type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        rest = re.search(rf"{re.escape(line)}:\s*(\S+)", said)
        if rest is None or rest[1] != "<none>":
            sys.exit(f"coqchk: found constants {line}:\n{said}")
    return [] if "<none>" in block[1] else block[1].split()


def build_all(root: Path) -> dict[str, Any]:
    """Build and check everything, and return the record of it."""
    build, version, start = copy_sources(root), coq_version(), time.perf_counter()
    run(["coq_makefile", "-f", "_CoqProject", "-o", "CoqMakefile"], build)
    run(["make", "--no-print-directory", "-f", "CoqMakefile", "-j", str(jobs())], build)
    built = time.perf_counter()
    again = [module_of(file) for file in sources(root) if file not in COMPUTED]
    with ThreadPoolExecutor() as pool:
        checker = pool.submit(run, ["coqchk", "-silent", "-o", "-R", ".", NAME, *again], build)
        theorems = axioms_of(root, build)
        said = checker.result()
    checked = time.perf_counter()
    print(
        f"built in {built - start:.0f} s, checked by coqchk in {checked - built:.0f} s, {len(theorems)} theorems"
    )
    return {
        "coq": version,
        "checker": "coqchk",
        "kernel_only": [file for file in COMPUTED if file in sources(root)],
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "axioms": axioms_of_the_checker(said),
        "sources": digests(root),
        "theorems": theorems,
    }


def marks(root: Path, theorems: dict[str, list[str]]) -> str:
    """Return the module that tells badges which claims have a machine-checked core, and what it rests on."""
    lines = [
        '"""Claims whose core Coq has checked: the source, how many theorems, and whether they rest on axioms.',
        "",
        "Written by `make proofs STORE=1`.",
        '"""',
        "",
        "PROVED = {",
    ]
    for entry in entries(root):
        names = [theorem["name"] for theorem in entry["theorem"]]
        axioms = {axiom for name in names for axiom in theorems[f"{module_of(entry['file'])}.{name}"]}
        lines.append(f'    "{entry["claim"]}": ("{entry["file"]}", {len(names)}, {bool(axioms)}),')
    return "\n".join(
        [
            *lines,
            "}",
            '"""Each claim: the file in ``proofs/``, its theorems, and whether axioms of the reals are used."""',
            "",
        ]
    )


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return whether two records agree in all but the date and the version of Coq."""
    apart = ("date", "coq")
    return all(first.get(key) == second.get(key) for key in first.keys() | second.keys() if key not in apart)


def main() -> None:
    """Build, check, compare with the record; or say what the record says where Coq is not installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--store", action="store_true", help="write the record")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    wrong = complaints_about_sources(root)
    if wrong:
        sys.exit("\n".join(wrong))
    if coq_version() is None:
        wrong = complaints_about_record(root)
        if wrong:
            sys.exit("\n".join(wrong))
        record = json.loads((root / RECORD).read_text(encoding="utf-8"))
        print(
            f"not re-checked here: Coq is not installed. {RECORD}: {len(record['theorems'])} theorems and planted "
            f"faults, checked with Coq {record['coq']} on {record['date']}; the sources are the same."
        )
        return
    found = build_all(root)
    for name, axioms in found["theorems"].items():
        wrong += [
            f"{name}: rests on {axiom}, which is not allowed" for axiom in axioms if axiom not in ALLOWED
        ]
    wrong += [f"the checker found {one}, which is not allowed" for one in found["axioms"] if not _loaded(one)]
    if wrong:
        sys.exit("\n".join(wrong))
    if arguments.store:
        write_whole(root / RECORD, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        write_whole(root / MARKS, marks(root, found["theorems"]))
    wrong = complaints_about_record(root)
    record = json.loads((root / RECORD).read_text(encoding="utf-8")) if (root / RECORD).exists() else {}
    if not wrong and not same(found, record):
        wrong = [f"{RECORD}: another result than this build's; run make proofs STORE=1"]
    if wrong:
        sys.exit("\n".join(wrong))
    free = sum(not axioms for axioms in found["theorems"].values())
    print(f"{len(found['theorems'])} theorems and planted faults proved, {free} of them without any axiom")


if __name__ == "__main__":
    main()
