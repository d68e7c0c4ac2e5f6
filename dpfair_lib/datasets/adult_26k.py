"""Adult, reconstructed: 45,849 people of the 1994 census survey, label income above 26,000 dollars."""

from __future__ import annotations

from dpfair_lib.datasets.canonical_table import read_csv
from dpfair_lib.datasets.spec import File, Kind, Spec

_URL = "https://raw.githubusercontent.com/hharcolezi/ldp-fairness-impact/main/datasets/db_adult_processed_26k.csv"

# codes from 0 in the order of the values: of the words alphabetically, of ages from 17 years, of hours as they occur
COLUMNS: dict[str, Kind] = {
    "age": "int",
    "workclass": "int",
    "education": "int",
    "marital-status": "int",
    "occupation": "int",
    "native-country": "int",
    "relationship": "int",
    "hours-per-week": "int",
    "gender": "int",
    "race": "int",
    "income": "int",
}

SPEC = Spec(
    name="adult-26k",
    title="Adult, reconstructed, income above 26,000 dollars",
    publisher="H. H. Arcolezi",
    homepage="https://github.com/hharcolezi/ldp-fairness-impact",
    licence="MIT licence of the repository; the records are of a survey of the US Census Bureau",
    citation="Arcolezi, H. H., Makhlouf, K. and Palamidessi, C. (2023). (Local) Differential Privacy has NO Disparate "
    "Impact on Fairness. DBSec 2023. doi:10.1007/978-3-031-37586-6_1",
    people="one person of 17 years or more in a survey of households in the United States",
    period="Current Population Survey of March 1994",
    caveats=(
        "The table is the reconstruction of Adult by Ding et al. (2021), which knows the income itself, reduced by "
        "Arcolezi et al.: ten columns, rows with a missing value dropped, every value a code.",
        "The label is income above 26,000 dollars, about the median. It cannot be made from Adult as UCI has it, "
        "which knows only whether the income is above 50,000.",
        "Income is what people said, for work and property, before taxes, in one year.",
        "Sex was recorded in two values and race in five, by interview. They are not how everyone would describe "
        "themselves.",
        "The smallest groups are small: 353 rows of race other than those named.",
        "Differences between groups in these data describe the records; they say nothing of causes.",
    ),
    columns=COLUMNS,
    label="income",
    positive=1,
    categorical=(
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "native-country",
        "relationship",
        "gender",
        "race",
    ),
    sensitive=("gender", "race"),
    layouts=(
        (File("db_adult_processed_26k.csv", 45_849, read_csv, _URL),),
        (File("adult_26k_arcolezi.csv", 45_849, read_csv),),
    ),
    words={
        "gender": {0: "Female", 1: "Male"},
        "race": {0: "Amer-Indian-Eskimo", 1: "Asian-Pac-Islander", 2: "Black", 3: "Other", 4: "White"},
    },
    folders=("adult-26k", "adult"),
    signal=0.8,
)
