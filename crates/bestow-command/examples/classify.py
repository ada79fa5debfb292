"""Asks the program `bestow-classify` for the tier of command lines. It needs no package.

    python3 classify.py 'git status' 'rm -rf /'

The environment variable BESTOW_CLASSIFY names the program, if it is not in PATH.
"""

import json
import os
import subprocess
import sys


class Classifier:
    """One running program that answers line by line."""

    def __init__(self, program=os.environ.get("BESTOW_CLASSIFY", "bestow-classify"), strict=False):
        words = [program] + (["--strict"] if strict else [])
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, encoding="utf-8")
        except FileNotFoundError:
            raise SystemExit(f"there is no program `{program}`: install it, or name it in BESTOW_CLASSIFY") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def classify(self, command):
        """Returns the answer for a command line: a dict with `tier`, `reason` and `parts`."""
        return self._ask({"command": command})

    def classify_tool(self, name, tool_input):
        """Returns the answer for a call of a tool."""
        return self._ask({"toolName": name, "toolInput": tool_input})

    def _ask(self, question):
        # The text contains no line break: JSON escapes it. The escapes are ASCII only.
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.endswith("\n"):
            # Without an answer nothing is known about the command.
            raise RuntimeError("bestow-classify gave no answer")
        return json.loads(answer)


def main():
    with Classifier() as classifier:
        for command in sys.argv[1:]:
            answer = classifier.classify(command)
            print(f"{answer['tier']}: {command}")
            for part in answer["parts"]:
                print(f"  {part['tier']}: {part['rule']}")


if __name__ == "__main__":
    main()
