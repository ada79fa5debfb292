#!/usr/bin/env python3
"""An approver. It shows each request as it comes and reads the answer: `approve`, `reject WHY`, or an empty line. It
ends with its standard input.

usage: BESTOW_TOKEN=... approver.py
"""

import json
import queue
import sys
import threading

from bestow import Client, Refused

CHOICES = "answer `approve` or `reject WHY`. With an empty line, the request waits on"
NOT_COUNTED = "not counted: no request was shown"


class Lines:
    """The lines of the standard input."""

    def __init__(self):
        self.queue = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        # Without a buffer there is no lock that this thread could still hold when the program ends.
        for line in open(0, "rb", buffering=0, closefd=False):
            self.queue.put(line.decode(errors="replace").strip())
        self.queue.put(None)

    def next(self, seconds=None):
        """Waits for a line. Returns `None` if none comes in time."""
        try:
            line = self.queue.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            raise EOFError
        return line

    def forget(self):
        """Forgets what was typed before a request was shown: it is no answer to it."""
        while self.next(0) is not None:
            print(NOT_COUNTED, flush=True)


def shown(item):
    """Returns the text of a request. Escapes show letters that a terminal would hide or turn around."""
    lines = ["%s wants %s (%s): %s" % (item["agentId"], item["toolName"], item["tier"], json.dumps(item["toolInput"]))]
    if item["toolInputCut"]:
        lines.append("  the input is longer than this")
    if item["permissions"]:
        lines.append("  and needs " + ", ".join(item["permissions"]))
    return "\n".join(lines + ["  because: " + json.dumps(item["reason"])])


def ask(client, item, lines):
    """Shows a request, and sends the answer."""
    lines.forget()
    print(shown(item), CHOICES, sep="\n", flush=True)
    while line := lines.next():
        word, _, why = line.partition(" ")
        if word not in ("approve", "reject"):
            print(CHOICES, flush=True)
            continue
        try:
            done = client.decide(item["id"], word, **({"feedback": why} if why else {}))
            print("done:", done["decision"], flush=True)
        except Refused as refusal:
            # It has ended meanwhile, or another approver was faster.
            print("refused:", refusal, flush=True)
        return
    print("it waits on, and an approver that starts later shows it again", flush=True)


def main():
    client, lines, seen = Client(), Lines(), set()
    while True:
        waiting = {item["id"]: item for item in client.pending()}
        seen &= waiting.keys()
        new = next((item for item in waiting if item not in seen), None)
        if new is not None:
            ask(client, waiting[new], lines)
            seen.add(new)
        elif lines.next(1):
            print(NOT_COUNTED, flush=True)


if __name__ == "__main__":
    try:
        main()
    except (EOFError, KeyboardInterrupt):
        pass
    except Refused as refusal:
        sys.exit("not started, or ended: %s" % refusal)
