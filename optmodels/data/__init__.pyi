from .column_files import batches_of as batches_of
from .column_files import footer_of as footer_of
from .column_files import npy_layout as npy_layout
from .column_files import npy_window as npy_window
from .column_files import parquet as parquet
from .column_files import reason as reason
from .column_files import stamp_of as stamp_of
from .fields import Matrix as Matrix
from .fields import is_number as is_number
from .fields import is_whole as is_whole
from .fields import read_list as read_list
from .fields import read_matrix as read_matrix
from .fields import read_numbers as read_numbers
from .fields import refuse_negative as refuse_negative
from .fields import refuse_unknown as refuse_unknown
from .fields import told as told
from .given import OPTIONAL as OPTIONAL
from .given import REQUIRED as REQUIRED
from .given import Constructed as Constructed
from .given import LawLike as LawLike
from .given import Takes as Takes
from .given import by_field as by_field
from .given import natural as natural
from .given import plain as plain
from .given import refuse_masked as refuse_masked
from .given import shared as shared
from .laws import DIGITS as DIGITS
from .laws import FORM as FORM
from .laws import LAWS as LAWS
from .laws import PROCESSES as PROCESSES
from .laws import RATE as RATE
from .laws import TIME as TIME
from .laws import Law as Law
from .laws import Phases as Phases
from .laws import Time as Time
from .laws import draw_law as draw_law
from .laws import phases_of as phases_of
from .laws import read_time as read_time
from .laws import times as times
from .laws import write_law as write_law
from .laws import write_time as write_time
from .models import Choice as Choice
from .models import Data as Data
from .models import Made as Made
from .models import Number as Number
from .models import OneOf as OneOf
from .models import Reader as Reader
from .models import Refusal as Refusal
from .models import Rows as Rows
from .models import Spoken as Spoken
from .models import entry as entry
from .models import numbers as numbers
from .models import read_as as read_as
from .models import square as square
from .named_laws import NamedLaw as NamedLaw
from .named_laws import constant as constant
from .named_laws import erlang as erlang
from .named_laws import exponential as exponential
from .named_laws import hyperexponential as hyperexponential
from .named_laws import map as map
from .named_laws import mmpp as mmpp
from .named_laws import phase_type as phase_type
from .named_laws import poisson as poisson
from .parameters import as_path as as_path
from .parameters import as_real as as_real
from .parameters import as_whole as as_whole
from .parameters import build as build
from .parameters import check_called as check_called
from .parameters import check_options as check_options
from .parameters import check_ranges as check_ranges
from .parameters import check_switch as check_switch
from .parameters import field_types as field_types
from .parameters import from_json as from_json
from .parameters import from_text as from_text
from .parameters import is_required as is_required
from .parameters import parameter_fields as parameter_fields
from .parameters import parameter_list as parameter_list
from .parameters import whole_from_text as whole_from_text
from .schemas import FieldRow as FieldRow
from .schemas import field_rows as field_rows
from .schemas import schema_of as schema_of
from .shipped import instances as instances
from .shipped import locate as locate
from .shipped import shipped_files as shipped_files
from .shipped import shipped_folder as shipped_folder
from .strict_json import check_tree as check_tree
from .strict_json import collector_off as collector_off
from .strict_json import join_place as join_place
from .strict_json import naming as naming
from .strict_json import parse_json as parse_json
from .strict_json import pretty as pretty
from .strict_json import read_json as read_json
from .text_tables import columns as columns
from .text_tables import csv_rows as csv_rows
from .text_tables import csv_text as csv_text
from .text_tables import number as number
from .text_tables import unguarded as unguarded
from .writing import append_line as append_line
from .writing import append_to as append_to
from .writing import explained as explained
from .writing import locked as locked
from .writing import open_log as open_log
from .writing import refuse_device as refuse_device
from .writing import replaced as replaced
from .writing import whole_lines as whole_lines
from .writing import whole_part as whole_part
from .writing import write_text as write_text
from .written import Part as Part
from .written import check_manifest as check_manifest
from .written import read_written as read_written
from .written import whole_file as whole_file
from .written import whole_folder as whole_folder
from .written import write_manifest as write_manifest
from .written import write_npy as write_npy
from .written import write_parquet as write_parquet

__all__ = [
    "DIGITS",
    "FORM",
    "LAWS",
    "OPTIONAL",
    "PROCESSES",
    "RATE",
    "REQUIRED",
    "TIME",
    "Choice",
    "Constructed",
    "Data",
    "FieldRow",
    "Law",
    "LawLike",
    "Made",
    "Matrix",
    "NamedLaw",
    "Number",
    "OneOf",
    "Part",
    "Phases",
    "Reader",
    "Refusal",
    "Rows",
    "Spoken",
    "Takes",
    "Time",
    "append_line",
    "append_to",
    "batches_of",
    "build",
    "by_field",
    "check_manifest",
    "check_options",
    "check_ranges",
    "check_tree",
    "collector_off",
    "columns",
    "constant",
    "csv_rows",
    "csv_text",
    "draw_law",
    "entry",
    "erlang",
    "explained",
    "exponential",
    "field_rows",
    "field_types",
    "footer_of",
    "from_json",
    "from_text",
    "hyperexponential",
    "instances",
    "is_number",
    "is_required",
    "is_whole",
    "join_place",
    "locate",
    "locked",
    "map",
    "mmpp",
    "naming",
    "natural",
    "npy_layout",
    "npy_window",
    "number",
    "numbers",
    "open_log",
    "parameter_fields",
    "parameter_list",
    "parquet",
    "parse_json",
    "phase_type",
    "phases_of",
    "plain",
    "poisson",
    "pretty",
    "read_as",
    "read_json",
    "read_list",
    "read_matrix",
    "read_numbers",
    "read_time",
    "read_written",
    "reason",
    "refuse_device",
    "refuse_negative",
    "refuse_unknown",
    "replaced",
    "schema_of",
    "shared",
    "shipped_files",
    "shipped_folder",
    "square",
    "stamp_of",
    "times",
    "told",
    "unguarded",
    "whole_file",
    "whole_folder",
    "whole_from_text",
    "whole_lines",
    "whole_part",
    "write_law",
    "write_manifest",
    "write_npy",
    "write_parquet",
    "write_text",
    "write_time",
]
