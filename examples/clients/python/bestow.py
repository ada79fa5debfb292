"""A client of `bestow serve`. It needs Python and nothing else."""

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request

# Longer than the longest time that the server waits for a person.
TIMEOUT = 20


class Refused(Exception):
    """There is no answer, or the server refuses a request. The reason is in `problem`."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or "the server refused without a reason")
        self.problem = problem


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token must not go to another server."""

    def redirect_request(self, *_):
        return None


class Client:
    """The holder of one credential. Its role decides what it may call."""

    def __init__(self, url=None, token=None):
        self.url = url or os.environ.get("BESTOW_URL", "http://127.0.0.1:7422")
        self.token = (token or os.environ.get("BESTOW_TOKEN", "")).strip()
        if not self.token:
            raise Refused({"detail": "BESTOW_TOKEN is missing"})
        # No proxy of the environment gets the token either.
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))

    def call(self, path, body=None):
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            request = urllib.request.Request(self.url + path, data, headers)
            with self.opener.open(request, timeout=TIMEOUT) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
            try:
                problem = json.loads(text)
            except ValueError:
                problem = None
            raise Refused(problem if isinstance(problem, dict) else {"detail": "status %d" % error.code}) from None
        except OSError as why:
            raise Refused({"detail": "%s does not answer: %s" % (self.url, getattr(why, "reason", why))}) from None
        except (ValueError, http.client.HTTPException):
            # The text of such an error may contain the token.
            raise Refused({"detail": "the address or the token is malformed, or this is no bestow server"}) from None

    # For agents.

    def classify(self, tool, tool_input, wait_ms=0):
        """Asks if the agent may call the tool with this input now."""
        return self.call("/api/hooks/classify", {"toolName": tool, "toolInput": tool_input, "waitMs": wait_ms})

    def request(self, request_id):
        """Returns the state of a request of the agent."""
        return self.call("/api/hooks/requests/" + urllib.parse.quote(request_id, safe=""))

    # For approvers.

    def pending(self):
        """Returns the requests that wait."""
        return self.call("/api/permissions")["pending"]

    def decide(self, request_id, decision, **more):
        """Answers a request: `approve`, `reject` or `approve_always`."""
        return self.call("/api/permissions", {"requestId": request_id, "decision": decision, **more})
