"""Asks protoc about files."""

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import grpc_tools  # type: ignore[import-untyped]
from grpc_tools import _protoc_compiler

OWN_FILES = Path(grpc_tools.__file__).parent / "_proto"
"""google/protobuf/*.proto, as protoc has them."""


def compiled(root: str, paths: Sequence[Path]) -> tuple[bytes | None, str]:
    """Return the descriptor set of a file and of what it imports, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="protoc-") as folder:
        out, log = Path(folder, "set"), Path(folder, "log")
        words = ["protoc", *(f"-I{path}" for path in [*paths, OWN_FILES]), "--include_imports",
                 "--retain_options",
                 f"-o{out}", root]  # fmt: skip
        stderr = os.dup(2)
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
            try:
                code = _protoc_compiler.run_main([word.encode() for word in words])
            finally:
                os.dup2(stderr, 2)
                os.close(stderr)
        if code == 0:
            return out.read_bytes(), ""
        return None, _reason(log.read_text("utf-8", "replace"))


def _reason(log: str) -> str:
    """Return the first error, without its place."""
    lines = [line for line in log.splitlines() if "warning:" not in line]
    placed = (re.fullmatch(r".*?\.proto:(?:\d+:\d+:)? (.*)", line) for line in lines)
    return next((found[1] for found in placed if found), lines[-1] if lines else "no reason")
