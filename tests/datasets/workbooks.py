"""Workbooks of the credit data's oldest form, made for tests."""

import struct


def biff2(rows):
    """Return the oldest of the .xls formats: a plain stream of records, numbers and short texts."""

    def record(kind, body):
        return struct.pack("<HH", kind, len(body)) + body

    stream = record(0x0009, struct.pack("<HH", 7, 0x10))
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            cell = struct.pack("<HH3x", at, column)
            if isinstance(value, str):
                stream += record(0x0004, cell + bytes([len(value)]) + value.encode("ascii"))
            else:
                stream += record(0x0003, cell + struct.pack("<d", value))
    return stream + record(0x000A, b"")


def sheet(table):
    """Arrange a table as UCI's sheet does: a row of other titles, then the header, and an ID in front."""
    header = [*table.columns[:-1], "default payment next month"]
    titles = ["", *(f"X{at}" for at in range(1, len(header))), "Y"]
    return [titles, ["ID", *header], *([at + 1, *row] for at, row in enumerate(table.to_numpy().tolist()))]
