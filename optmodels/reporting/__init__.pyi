from .page import read_further as read_further
from .page import report_html as report_html
from .page import study_text as study_text
from .page import write_further as write_further
from .page import write_report as write_report
from .pictures import as_inline as as_inline

__all__ = ["as_inline", "read_further", "report_html", "study_text", "write_further", "write_report"]
