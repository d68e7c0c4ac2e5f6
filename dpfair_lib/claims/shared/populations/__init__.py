"""Small populations, and all classifiers of them, that the checks of data and accuracy share."""
