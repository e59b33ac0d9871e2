"""Charts that show what the rows say."""

from .choose import choose

__all__ = ["choose"]
