from .arguments import ANSWERED as ANSWERED
from .arguments import File as File
from .arguments import Json as Json
from .arguments import Seed as Seed
from .arguments import instance_files as instance_files
from .arguments import whole_number as whole_number
from .commands import command_of as command_of
from .output import batch_progress as batch_progress
from .output import check_target as check_target
from .output import deliver as deliver
from .output import note as note
from .output import print_json as print_json
from .output import say as say
from .output import settle as settle
from .process import main as main

__all__ = [
    "ANSWERED",
    "File",
    "Json",
    "Seed",
    "batch_progress",
    "check_target",
    "command_of",
    "deliver",
    "instance_files",
    "main",
    "note",
    "print_json",
    "say",
    "settle",
    "whole_number",
]
