from .arguments import ANSWERED as ANSWERED
from .arguments import NOTHING_FEASIBLE as NOTHING_FEASIBLE
from .arguments import Evaluations as Evaluations
from .arguments import File as File
from .arguments import Json as Json
from .arguments import Seconds as Seconds
from .arguments import Seed as Seed
from .arguments import Workers as Workers
from .arguments import instance_files as instance_files
from .arguments import read_answer as read_answer
from .arguments import whole_number as whole_number
from .commands import command_of as command_of
from .output import batch_progress as batch_progress
from .output import check_page as check_page
from .output import check_target as check_target
from .output import deliver as deliver
from .output import note as note
from .output import print_json as print_json
from .output import say as say
from .output import settle as settle
from .output import terminal_width as terminal_width
from .process import main as main

__all__ = [
    "ANSWERED",
    "NOTHING_FEASIBLE",
    "Evaluations",
    "File",
    "Json",
    "Seconds",
    "Seed",
    "Workers",
    "batch_progress",
    "check_page",
    "check_target",
    "command_of",
    "deliver",
    "instance_files",
    "main",
    "note",
    "print_json",
    "read_answer",
    "say",
    "settle",
    "terminal_width",
    "whole_number",
]
