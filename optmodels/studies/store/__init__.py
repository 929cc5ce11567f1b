"""What a comparison is asked for, and what it leaves: the study file, its folder, exports.

`exporting`
    The columns of a run, each with its unit, and the runs as a Parquet file.
`folder`
    The folder of a comparison: runs, results, instances, machine and versions, all that is needed to read it again.
`ioh`
    The runs of a comparison in the format that IOHanalyzer and iohinspector read.
`reading`
    One or several folders read back into a comparison, every answer judged again; merging.
`study_file`
    The study file (TOML): instances, strategies with parameters, seeds, budget, and who does the work.
`subjects`
    The problems that take part in a comparison, and the best that is known of each.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
