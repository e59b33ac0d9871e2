"""askhouse: ask your BigQuery data in plain language.

Importing this package loads no cloud library; the parts do that when they are used.
"""

__version__ = "0.1.0"
