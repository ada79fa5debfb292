/** A client of `bestow serve`. It needs Node.js and nothing else. */

/** @import { Answer, Decided, Decision, Item, State, ToolInput } from "./types.js" */

/** Longer than the longest time that the server waits for a person, in milliseconds. */
const TIMEOUT = 20_000;

/** There is no answer, or the server refuses a request. */
export class Refused extends Error {}

/** The holder of one credential. Its role decides what it may call. */
export class Client {
  /** @param {string | undefined} [url] @param {string | undefined} [token] */
  constructor(url = process.env.BESTOW_URL, token = process.env.BESTOW_TOKEN) {
    token = token?.trim();
    if (!token) throw new Error("BESTOW_TOKEN is missing");
    this.url = url || "http://127.0.0.1:7422";
    this.token = token;
  }

  /** @param {string} path @param {object} [body] @returns {Promise<any>} */
  async call(path, body) {
    const reply = await fetch(this.url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      // The token must not go to another server.
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT),
    }).catch((why) => {
      // The text of another error may contain the token.
      const reason = why.name === "TimeoutError" ? "it took too long" : why.cause?.message || why.cause?.code;
      throw new Refused(reason ? `${this.url} does not answer: ${reason}` : "the address or the token is malformed");
    });
    const told = await reply.json().catch(() => undefined);
    if (reply.ok && told) return told;
    throw new Refused(told?.detail ?? `${this.url} is no bestow server (status ${reply.status})`);
  }

  /**
   * For agents: asks if the agent may call the tool with this input now.
   * @param {string} toolName @param {ToolInput} toolInput @param {number} [waitMs] @returns {Promise<Answer>}
   */
  classify(toolName, toolInput, waitMs = 0) {
    return this.call("/api/hooks/classify", { toolName, toolInput, waitMs });
  }

  /** For agents: returns the state of a request of the agent. @param {string} id @returns {Promise<State>} */
  request(id) {
    return this.call(`/api/hooks/requests/${encodeURIComponent(id)}`);
  }

  /** For approvers: returns the requests that wait. @returns {Promise<Item[]>} */
  async pending() {
    return (await this.call("/api/permissions")).pending;
  }

  /**
   * For approvers: answers a request.
   * @param {string} requestId @param {Decision} decision @param {{ feedback?: string; modifiedInput?: string }} [more]
   * @returns {Promise<Decided>}
   */
  decide(requestId, decision, more = {}) {
    return this.call("/api/permissions", { requestId, decision, ...more });
  }

  /** For approvers: opens a socket. The token is a subprotocol, as in a browser. @returns {WebSocket} */
  socket() {
    if (typeof WebSocket === "undefined") throw new Error("there is no WebSocket: node --experimental-websocket");
    const url = this.url.replace(/^http/, "ws") + "/ws/permissions";
    return new WebSocket(url, ["bestow", `bearer.${this.token}`]);
  }
}
