"""``python -m tests.campaign ENGINE``: the long form of the campaign."""

from __future__ import annotations

import sys

from tests.campaign.command import main

sys.exit(main(sys.argv[1:]))
