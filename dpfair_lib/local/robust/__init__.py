"""The fairest channel where the law of group and label is not known: the worst law, the search, the proof."""
