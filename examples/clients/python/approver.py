#!/usr/bin/env python3
"""An approver. It shows each request that waits and reads the answer: `approve`, `reject WHY`, or an empty line.

usage: BESTOW_TOKEN=... approver.py
"""

import json
import sys

from bestow import Client, Refused


def shown(item):
    """Returns the text of a request. Escapes show letters that a terminal would hide or turn around."""
    lines = ["%s wants %s (%s): %s" % (item["agentId"], item["toolName"], item["tier"], json.dumps(item["toolInput"]))]
    if item["toolInputCut"]:
        lines.append("  the input is longer than this")
    if item["permissions"]:
        lines.append("  and needs " + ", ".join(item["permissions"]))
    return "\n".join(lines + ["  because: " + json.dumps(item["reason"])])


def main():
    client = Client()
    for item in client.pending():
        print(shown(item), "approve, reject WHY, or nothing?", sep="\n", flush=True)
        word, _, why = sys.stdin.readline().strip().partition(" ")
        if word not in ("approve", "reject"):
            print("it waits on", flush=True)
            continue
        try:
            done = client.decide(item["id"], word, **({"feedback": why} if why else {}))
            print("done:", done["decision"], flush=True)
        except Refused as refusal:
            # It has ended meanwhile, or another approver was faster.
            print("refused:", refusal, flush=True)


if __name__ == "__main__":
    main()
