"""What may not stand anywhere in the sources: anything that runs, or builds objects from, what it reads."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "jsonpickle"}
CALLS = {
    "eval", "exec", "read_pickle", "to_pickle", "unsafe_load", "full_load", "load_module",
}  # fmt: skip
# each of these reads objects unless it is told not to, or is another library's own loader of pickles
LOADERS = {("joblib", "load"), ("joblib", "dump"), ("torch", "load"), ("torch", "save"), ("yaml", "load")}
IN_TESTS = {
    "pickle",
    "exec",
}  # where a test asks what a pickle of its own making holds, or runs its own mutants


def offences(text):
    """Return what a source does that may not be, with its line."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [
                (node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] in MODULES
            ]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append((node.lineno, node.module))
        elif isinstance(node, ast.ImportFrom) and node.module in {"joblib", "torch", "yaml"}:
            found += [
                (node.lineno, alias.name) for alias in node.names if (node.module, alias.name) in LOADERS
            ]
        elif isinstance(node, ast.Call):
            function = node.func
            name = getattr(function, "id", getattr(function, "attr", ""))
            owner = getattr(getattr(function, "value", None), "id", "")
            # a method of that name, such as model.eval(), is another matter: only the built-in runs text
            built_in = name not in {"eval", "exec"} or isinstance(function, ast.Name) or owner == "builtins"
            if (name in CALLS and built_in) or (owner, name) in LOADERS:
                found.append((node.lineno, name))
            found += [
                (node.lineno, word.arg)
                for word in node.keywords
                if (word.arg == "allow_pickle" and not _is(word.value, False))
                or (word.arg == "weights_only" and not _is(word.value, True))
                or (word.arg == "shell" and not _is(word.value, False))
            ]
    return found


def _is(node, value):
    return isinstance(node, ast.Constant) and node.value is value


def sources():
    # not what the build makes, nor an environment
    places = ("dpfair_lib", "tools", "benchmarks", "tests", "notebooks", "book")
    return [path for place in places for path in sorted((ROOT / place).rglob("*.py"))]


@pytest.mark.parametrize(
    "text",
    [
        "import pickle", "from pickle import loads", "def f():\n import dill as d", "eval('1')", "exec('x = 1')",
        "np.load(p, allow_pickle=True)", "np.load(p, allow_pickle=flag)", "pd.read_pickle(p)", "yaml.load(text)",
        "joblib.load(p)", "from joblib import load", "torch.load(p)", "subprocess.run(c, shell=True)", "import shelve",
        "builtins.eval('1')", "torch.load(p, weights_only=False)", "import marshal",
    ],
)  # fmt: skip
def test_the_scan_finds_what_it_is_for(text):
    assert offences(text)


@pytest.mark.parametrize(
    "text", ["model.eval()", "np.load(p)", "np.load(p, allow_pickle=False)", "json.loads(t)"]
)
def test_the_scan_leaves_what_runs_nothing(text):
    assert not offences(text)


def test_no_source_reads_objects_or_runs_text():
    found = {path: offences(path.read_text(encoding="utf-8")) for path in sources()}
    assert len(found) > 300
    for path, wrong in found.items():
        in_tests = (ROOT / "tests") in path.parents
        assert not [what for _, what in wrong if not (in_tests and what in IN_TESTS)], path


def test_no_chapter_reads_objects_or_runs_text():
    chapters = sorted((ROOT / "notebooks").glob("*.md"))
    assert len(chapters) > 40
    for path in chapters:
        cells = path.read_text(encoding="utf-8").split("```{code-cell}")[1:]
        for cell in cells:
            lines = cell.split("```")[0].split("\n")[1:]
            code = "\n".join(line for line in lines if not line.startswith((":", "%", "!", "---")))
            assert not offences(code), path
