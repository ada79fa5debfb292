#!/usr/bin/env python3
"""An agent with one tool, `bash`. It asks before it calls the tool, waits for the answer, and then calls the tool.

usage: BESTOW_TOKEN=... agent.py COMMAND
"""

import subprocess
import sys
import time

from bestow import Client, Refused

WAIT_MS = 9000


class Denied(Exception):
    """The call may not happen."""


def ended(client, request_id):
    """Waits for the end of a request. To ask again before it would turn a rejection into a new question."""
    while True:
        state = client.request(request_id)
        if state["status"] != "pending":
            return state
        time.sleep(1)


def permitted(client, tool, tool_input):
    """Returns the input with which the tool may be called once: this one, or the one that the approver wants."""
    while True:
        answer = client.classify(tool, tool_input, WAIT_MS)
        if answer.get("allow") is True:
            return tool_input
        if "updatedInput" not in answer and "requestId" not in answer:
            raise Denied(answer["reason"])
        if "updatedInput" not in answer:
            answer = ended(client, answer["requestId"])
        if "updatedInput" in answer:
            print("the input was changed to", answer["updatedInput"], flush=True)
            tool_input = answer["updatedInput"]
        elif answer.get("status") != "approved":
            raise Denied(answer.get("feedback") or answer["reason"])


def main(command):
    try:
        tool_input = permitted(Client(), "bash", {"command": command})
    except (Denied, Refused) as why:
        # Without an answer there is no permission.
        print("not run:", why)
        return 1
    return subprocess.run(["bash", "-c", tool_input["command"]], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
