"""An answered question in the forms that leave the chat: JSON, CSV, a page, plain text, files."""

from .files import write_files
from .page import to_html
from .record import Record, record_of, to_json
from .sheet import to_csv
from .terminal import to_text
from .turned import Turned

__all__ = ["Record", "Turned", "record_of", "to_csv", "to_html", "to_json", "to_text", "write_files"]
