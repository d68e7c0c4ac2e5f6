"""Long experiments behind the book's tables and figures, and their recorded results."""

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.printed import printed_tables
from dpfair_lib.experiments.recorded_results import read_record, write_record
from dpfair_lib.experiments.sweeps import run_tasks

__all__ = ["mean_interval", "printed_tables", "read_record", "run_tasks", "write_record"]
