#!/usr/bin/env python3
"""Relays requests of agents to a chat, and answers of people from it. docs/server.md describes the settings."""
import hmac, json, os, re, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener
NAMES = "BESTOW_URL", "BESTOW_TOKEN", "CHAT_WEBHOOK", "CHAT_SECRET", "CHAT_USERS"
if missing := [name for name in NAMES if not os.environ.get(name, "").strip(",")]:  # Otherwise anyone could answer.
    raise SystemExit("not set: " + ", ".join(missing))
URL, TOKEN, WEBHOOK, SECRET, USERS = (os.environ[name] for name in NAMES)
NoRedirect = type("NoRedirect", (HTTPRedirectHandler,), {"redirect_request": lambda *_: None})
OPENER = build_opener(NoRedirect, ProxyHandler({}))  # The token goes to no other server.
def call(url, body=None, **headers):
    headers["Content-Type"] = "application/json"
    return OPENER.open(Request(url, body and json.dumps(body).encode(), headers), timeout=10).read()
def api(body=None):
    return json.loads(call(URL + "/api/permissions", body, Authorization="Bearer " + TOKEN))
def shown(item):  # JSON has escapes for letters that a chat would hide or turn around. The end is always shown.
    text, needs = json.dumps(item["toolInput"]), ", ".join(item["permissions"]) or "nothing else"
    text = f"only a part: {text[:999]} … {text[-999:]}" if item["toolInputCut"] or len(text) > 1998 else text
    return f"[{item['code']}] {item['agentId']} wants {item['toolName']} ({item['tier']}) and needs {needs}: {text}"
def relayed(item):  # An item that the chat refuses does not hold up the others.
    try:
        return call(WEBHOOK, {"text": shown(item)}) is not None
    except OSError as why:
        print(f"[{item['code']}] is not in the chat yet:", why, flush=True)
def watch(told=frozenset()):
    while True:
        try:
            waiting = {item["id"]: item for item in api()["pending"]}
            told = {old for old in waiting if old in told or relayed(waiting[old])}
        except (OSError, ValueError) as why:
            print("the next attempt is in a second:", why, flush=True)
        time.sleep(1)
def answer(user, text):
    match = re.fullmatch(r"(approve|reject) ([A-Za-z0-9]{1,16})(?: (.{1,500}))?", text)
    found = [item["id"] for item in api()["pending"] if match and item["code"] == match[2].lower()]
    if len(found) != 1:
        return "send `approve CODE` or `reject CODE WHY`, with the code of one request that waits"
    api({"requestId": found[0], "decision": match[1], "feedback": f"{user} in the chat: {match[3] or match[1]}"})
    return f"[{match[2]}] {match[1]}, by {user}"
class Chat(BaseHTTPRequestHandler):
    timeout, status, said, users = 10, 403, "not accepted", {*USERS.split(",")} - {""}
    def do_POST(self):
        try:
            body = self.rfile.read(max(0, min(int(self.headers["Content-Length"]), 65536)))
            signed = (stamp := self.headers["X-Timestamp"]).encode() + b"." + body
            right = hmac.digest(SECRET.encode(), signed, "sha256").hex().encode()
            is_signed = hmac.compare_digest(right, self.headers["X-Signature"].encode())
            if is_signed and abs(time.time() - int(stamp)) < 300 and (said := json.loads(body))["user"] in self.users:
                self.status, self.said = 200, answer(said["user"], said["text"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as why:
            print("not accepted:", why, flush=True)
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps({"text": self.said}).encode())
if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("RELAY_PORT", "0"))), Chat)
    print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
    threading.Thread(target=watch, daemon=True).start()
    server.serve_forever()
