/** The public API of the server. Nothing else is spoken. */

const TOKEN = "bestow.token";

/** The times to wait before a write is sent again with its key. */
const PAUSES = [200, 800, 2000];

/** A refusal of the server, or a server that cannot be reached (`status` 0). */
export class Problem extends Error {
  /** @param {number} status @param {{ code?: string, detail?: string }} [body] */
  constructor(status, body = {}) {
    super(body.detail ?? (status === 0 ? "The server cannot be reached." : `The server answered ${status}.`));
    this.status = status;
    this.code = body.code ?? (status === 0 ? "unreachable" : "unknown");
  }
}

/** @type {() => void} */
let whenRefused = () => {};

/** The token of this tab. It ends with the tab. */
export const token = {
  /** @returns {string | null} */
  get: () => sessionStorage.getItem(TOKEN),
  /** @param {string} value */
  keep: (value) => sessionStorage.setItem(TOKEN, value),
  drop: () => sessionStorage.removeItem(TOKEN),
};

/** Sets what happens when the server does not accept the token any more. @param {() => void} run */
export function onRefusedToken(run) {
  whenRefused = run;
}

/**
 * Returns a path with its values percent-encoded.
 *
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} values
 * @returns {string}
 */
export function path(strings, ...values) {
  return strings.reduce((all, text, place) => all + encodeURIComponent(values[place - 1] ?? "") + text);
}

/** Returns a new key for one intention of the person. */
export function newKey() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-");
}

/** The calls. Each resolves with the parsed body, or rejects with a {@link Problem}. */
export const api = {
  /** @param {string} where @returns {Promise<any>} */
  get: (where) => once("GET", where),
  /** @param {string} where @param {unknown} [body] @param {{ key?: string }} [options] @returns {Promise<any>} */
  post: (where, body, options) => write("POST", where, body, options),
  /** @param {string} where @param {unknown} [body] @param {{ key?: string }} [options] @returns {Promise<any>} */
  put: (where, body, options) => write("PUT", where, body, options),
  /** @param {string} where @param {{ key?: string }} [options] @returns {Promise<any>} */
  delete: (where, options) => write("DELETE", where, undefined, options),
};

/**
 * Sends a write. If it is unknown whether it arrived, it is sent again with the same key, so it never counts twice.
 *
 * @param {string} method
 * @param {string} where
 * @param {unknown} body
 * @param {{ key?: string }} [options]
 */
async function write(method, where, body, { key = newKey() } = {}) {
  for (const pause of PAUSES) {
    try {
      return await once(method, where, { body, key });
    } catch (problem) {
      if (!(problem instanceof Problem) || !isUnsure(problem)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return once(method, where, { body, key });
}

/** @param {Problem} problem */
function isUnsure(problem) {
  return problem.status === 0 || problem.code === "idempotency_in_progress";
}

/**
 * @param {string} method
 * @param {string} where
 * @param {{ body?: unknown, key?: string, sent?: string | null }} [options] `sent` is the token.
 */
async function once(method, where, { body, key, sent = token.get() } = {}) {
  const response = await reach(where, {
    method,
    headers: {
      ...(sent && { Authorization: `Bearer ${sent}` }),
      ...(key && { "Idempotency-Key": key }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined;
  const parsed = await response.json().catch(() => ({}));
  if (response.ok) return parsed;
  if (response.status === 401 && sent && sent === token.get()) whenRefused();
  throw new Problem(response.status, parsed);
}

/** The exchange of sessions. The token of this tab changes only when there is another one. */
export const sessions = {
  /** Exchanges the secret of a link for a token, and ends the session before it. @param {string} link */
  async open(link) {
    const opened = await once("POST", "/v1/session", { body: { link }, sent: null });
    const before = token.get();
    token.keep(opened.token);
    if (before) await once("DELETE", "/v1/session", { sent: before }).catch(() => {});
  },
};

/** Sends a request as it is. Cookies are never sent. @param {string} where @param {RequestInit} options */
export async function reach(where, options) {
  try {
    return await fetch(where, { cache: "no-store", credentials: "omit", redirect: "error", ...options });
  } catch (why) {
    if (options.signal?.aborted) throw why;
    throw new Problem(0);
  }
}
