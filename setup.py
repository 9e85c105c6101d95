"""The one part of the build that pyproject.toml cannot say: a reader in C, compiled where possible.

Optional: without a C compiler the installation goes on, and Python does the same work, slower.
"""

from __future__ import annotations

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "asof._native",
            ["src/asof/_native.c"],
            extra_compile_args=["-O2"],
            optional=True,
        )
    ]
)
