"""What files hold: strict reading, fields, laws, tables, and files written whole or not at all.

`column_files`
    Columns of numbers in files: ``.npy`` mapped into memory, Parquet batch by batch.
`fields`
    Checks of fields in instance files, for every kind: each complaint is one sentence that names the place.
`given`
    Constructors of problems: fields as they come to a Python user, read by the models that read files.
`laws`
    Laws of times and of arrivals in instance files: read with a sentence for every complaint, written back, drawn.
`models`
    Models of what stands in files: each field once, with its type, unit, default, rule and meaning.
`named_laws`
    Laws of times and of arrivals for Python: small values that fields of problems take where a file has an object.
`parameters`
    Parameters of a class, made from text or from a file, and options of verbs, as Python gives them.
`schemas`
    Models described: JSON Schema for programs, and a row for each field, for people and for the documentation.
`shipped`
    Instances that come with the package, found by their names.
`strict_json`
    JSON files read strictly.
`text_tables`
    Tables for people and for programs: aligned text, and CSV that no spreadsheet takes for formulas.
`writing`
    Every file this package writes is written here: whole or not at all, and never through a planted link.
`written`
    Columns written whole or not at all.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
