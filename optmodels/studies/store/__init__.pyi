from .exporting import COLUMNS as COLUMNS
from .exporting import check_exports as check_exports
from .exporting import write_parquet as write_parquet
from .folder import Record as Record
from .folder import Store as Store
from .folder import machine as machine
from .folder import machine_digest as machine_digest
from .ioh import write_ioh as write_ioh
from .reading import Part as Part
from .reading import merge_comparisons as merge_comparisons
from .reading import ordered as ordered
from .reading import read_comparison as read_comparison
from .reading import read_folder as read_folder
from .study_file import Study as Study
from .study_file import is_study as is_study
from .study_file import read_study as read_study
from .subjects import Subject as Subject
from .subjects import subjects_of as subjects_of

__all__ = [
    "COLUMNS",
    "Part",
    "Record",
    "Store",
    "Study",
    "Subject",
    "check_exports",
    "is_study",
    "machine",
    "machine_digest",
    "merge_comparisons",
    "ordered",
    "read_comparison",
    "read_folder",
    "read_study",
    "subjects_of",
    "write_ioh",
    "write_parquet",
]
