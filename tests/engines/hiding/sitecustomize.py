"""In a worker of a test: hide the modules that the test names, as if they were not installed."""

import os
import sys

for name in filter(None, os.environ.get("CLOISTER_TEST_HIDE", "").split(",")):
    sys.modules[name] = None
