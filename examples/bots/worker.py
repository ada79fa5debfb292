#!/usr/bin/env python3
"""The checker: a bot in another language. It needs Python and nothing else; the protocol is the interface.

It never waits for an answer. It reacts to each line that it reads, and meanwhile does the work that it may do.
"""

import json
import os
import sys


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def log(text):
    print(text, file=sys.stderr, flush=True)


class Checker:
    def __init__(self, hello):
        self.workspace = hello["workingDir"]
        # The texts that it writes when the engine allows it: path -> text.
        self.texts = {}
        self.rules = 0
        self.signing = False
        # The work that is open. The checker is done when this set is empty.
        self.open = {"notes", "signature"}

    def path(self, name):
        return os.path.join(self.workspace, name)

    def write(self, name, text):
        """Asks to use the permission to write a file, now. `use_result` allows the write."""
        path = self.path(name)
        self.texts[path] = text
        say("use_permission", permission="@write:" + path, requestId=path)

    def on_message(self, heard):
        if heard.get("agentId") != "lead":
            return
        log("I may not write notes: I ask, and read the style guide meanwhile")
        say("request_permission", permission="@write:" + self.path("check"), reason="to keep notes of what I check")
        with open(os.path.join(os.path.dirname(self.workspace), "docs", "style.md"), encoding="utf-8") as guide:
            self.rules = guide.read().count("\n- ")

    def on_permission_result(self, heard):
        if heard["outcome"] == "granted":
            self.write("check/notes.txt", "checked against %d rules\n" % self.rules)
        else:
            self.is_over("notes")

    def on_notice(self, heard):
        if heard["notice"] == "granted" and heard.get("agentId") == "writer":
            self.write("assets/checked/logo.txt", "the logo is fine\n")

    def on_policy_updated(self, heard):
        done = self.path("done")
        if "@write:" + done in heard["permissions"] and not self.signing:
            self.signing = True
            self.write("done/signed.txt", "checked and found good\n")

    def on_use_result(self, heard):
        path = heard["requestId"]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.texts.pop(path))
        name = os.path.relpath(path, self.workspace)
        if name.startswith("assets"):
            say("message", agentId="lead", text="the images are checked")
        if name.startswith("check"):
            self.is_over("notes")
        if name.startswith("done"):
            self.is_over("signature")

    def is_over(self, what):
        self.open.discard(what)
        if not self.open:
            say("message", agentId="lead", text="signed off")

    def on_error(self, heard):
        log("%s: %s" % (heard["code"], heard["message"]))

    def on_bye(self, heard):
        sys.exit(0)


def main():
    checker = None
    # When the engine ends, standard input ends too. Then the loop ends, and with it the bot.
    for line in sys.stdin:
        heard = json.loads(line)
        if heard["type"] == "hello":
            checker = Checker(heard)
        # A message of a newer protocol is ignored.
        getattr(checker, "on_" + heard["type"], lambda heard: None)(heard)


try:
    main()
except (KeyboardInterrupt, BrokenPipeError):
    # The engine has ended, so there is no one to write to.
    os._exit(1)
