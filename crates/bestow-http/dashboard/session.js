/** The session of this tab: the way in by a link or a token, and the way out. */

import { api, Problem, sessions, token } from "./api.js";
import { confirm, toast, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";

/** @import { Session } from "./types.js" */

const LINK_OVER = "This link was used already, or is older than five minutes. A link works once.";
const NOT_ACCEPTED = "The server does not accept this token. It may have ended.";

/**
 * Returns the session. It shows the way in until there is one.
 *
 * @param {HTMLElement} place
 * @returns {Promise<Session>}
 */
export async function enter(place) {
  const failed = (await useLink()) ?? null;
  const session = token.get() ? await read() : null;
  if (session && session.role !== "agent") {
    if (failed) toast(`${failed} The session of this tab goes on.`, { kind: "error" });
    return session;
  }
  if (session) token.drop();
  return new Promise((resolve) => askForToken(place, failed, resolve));
}

/** Takes the secret of a link out of the address, and exchanges it. Returns what went wrong. */
async function useLink() {
  const link = /^#link=(.+)$/.exec(location.hash)?.[1];
  if (!link) return undefined;
  history.replaceState(null, "", location.pathname);
  try {
    await sessions.open(decodeURIComponent(link));
    return undefined;
  } catch (why) {
    return why instanceof Problem && why.status !== 401 ? why.message : LINK_OVER;
  }
}

/** @returns {Promise<Session | null>} */
async function read() {
  for (;;) {
    try {
      return await api.get("/v1/session");
    } catch (why) {
      if (!(why instanceof Problem)) throw why;
      if (why.status === 401) token.drop();
      if (why.status !== 0 && why.status < 500) return null;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/**
 * @param {HTMLElement} place
 * @param {string | null} failed
 * @param {(session: Session) => void} opened
 */
function askForToken(place, failed, opened) {
  const input = h("input.input", {
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    id: "token",
  });
  const error = h("p.entry-error", { role: "alert" }, failed);
  const form = h(
    "form.stack",
    h("label.field", "Token", input),
    h("button.button.primary", { type: "submit" }, "Open the dashboard"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    token.keep(input.value.trim());
    void read().then((session) => {
      if (session && session.role !== "agent") return opened(session);
      token.drop();
      replace(error, session ? "This is the token of an agent. An agent answers no requests." : NOT_ACCEPTED);
      input.select();
    });
  });
  const card = h(
    "main.panel",
    { id: "main" },
    h("div.stack", h("h1", "bestow"), h("p", "Here a person answers what agents ask for."), error),
    h(
      "div.stack",
      h("h2", "Open it from a terminal"),
      h("code.code", "bestow dashboard"),
      h(
        "p.muted.small",
        "Run it where the server was started. It opens this page with a link that works once. No password is needed.",
      ),
    ),
    h(
      "details",
      h("summary", "Use a token instead"),
      h(
        "div.stack",
        h("p.muted.small", "This command prints one:"),
        h("code.code", "bestow token create --role approver --owner OWNER --by YOUR-NAME"),
        form,
      ),
    ),
  );
  replace(place, h("div.entry", card));
  document.title = "bestow";
}

/** Returns the notice that the session has ended, with the way back in. */
export function endedNotice() {
  const back = () => {
    token.drop();
    location.reload();
  };
  return h(
    "div.notice.bad",
    h(
      "span",
      h("strong", "The session has ended."),
      " What you see is no longer live, and nothing can be answered here. Run ",
      h("code", "bestow dashboard"),
      " to open a new one.",
    ),
    h("button.button", { onclick: back }, "Sign in again"),
  );
}

/** Ends the session, if the person agrees. */
export async function signOut() {
  const body = h("p", "The token of this tab ends now. Run ", h("code", "bestow dashboard"), " to come back.");
  if (!(await confirm({ title: "Sign out?", body, action: "Sign out" }))) return;
  try {
    await api.delete("/v1/session");
  } catch (why) {
    if (!(why instanceof Problem) || why.status !== 401) return toastError(why);
  }
  token.drop();
  location.replace(location.pathname);
  location.reload();
}
