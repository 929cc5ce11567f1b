from .options import ANSWERED as ANSWERED
from .options import File as File
from .options import Json as Json
from .options import Seed as Seed
from .options import whole_number as whole_number
from .output import batch_progress as batch_progress
from .output import check_target as check_target
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
    "main",
    "print_json",
    "say",
    "settle",
    "whole_number",
]
