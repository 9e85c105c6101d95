"""The one part of the build that pyproject.toml cannot say: some C, compiled where possible.

Optional: without a C compiler the installation goes on, and Python does the same work, slower.
"""

from __future__ import annotations

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "asof._native",
            ["src/asof/_native.c"],
            depends=["src/asof/_markup.h"],
            extra_compile_args=["-O2"],
            optional=True,
        ),
        Extension(
            "asof.change._shingles",
            ["src/asof/change/_shingles.c"],
            depends=["src/asof/_arrays.h"],
            extra_compile_args=["-O3"],  # its loops are written to be done for 16 bytes at once
            optional=True,
        ),
        Extension(
            "asof.cover.join._join",
            ["src/asof/cover/join/_join.c"],
            depends=["src/asof/_arrays.h"],
            extra_compile_args=["-O3"],
            optional=True,
        ),
        Extension(
            "asof.text.html._html_blocks",
            ["src/asof/text/html/_html_blocks.c"],
            depends=["src/asof/_markup.h"],
            extra_compile_args=["-O3"],  # a tenth faster than -O2
            optional=True,
        ),
    ]
)
