"""Benchmarks are no tests: pytest leaves them alone, `make bench` runs them."""

collect_ignore_glob = ["*.py"]
