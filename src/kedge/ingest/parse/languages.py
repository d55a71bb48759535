"""Programming languages by the suffixes of their files."""

from __future__ import annotations

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".pyx": "python", ".js": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript", ".tsx": "typescript", ".java": "java",
    ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".groovy": "groovy", ".c": "c", ".h": "c", ".cc": "cpp",
    ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".cs": "csharp", ".go": "go", ".rs": "rust",
    ".swift": "swift", ".m": "objectivec", ".rb": "ruby", ".php": "php", ".pl": "perl", ".pm": "perl", ".lua": "lua",
    ".r": "r", ".jl": "julia", ".sh": "bash", ".bash": "bash", ".zsh": "bash", ".ps1": "powershell", ".sql": "sql",
    ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure",
    ".el": "lisp", ".lisp": "lisp", ".scm": "scheme", ".vim": "vim", ".zig": "zig", ".dart": "dart", ".f90": "fortran",
    ".proto": "protobuf", ".tf": "terraform",
}  # fmt: skip
