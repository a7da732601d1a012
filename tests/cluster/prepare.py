"""Makes ahead what the tests on Kubernetes take longest to make: programs and images; `make test-cluster` would make it too."""

from __future__ import annotations

import sys

from cluster.debian import install_packages
from cluster.images import build_images
from cluster.programs import NEEDED, Programs
from servers.process import CannotStart


def main(modules: list[str]) -> int:
    """Builds these modules besides what is always needed; 1 where that failed."""
    try:
        install_packages()
        build_images(Programs(*NEEDED, *modules))
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
