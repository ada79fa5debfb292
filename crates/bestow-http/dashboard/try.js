/** Trying the policy out: an action in, the decision with its reasons out. Nothing is decided. */

import { api, path } from "./api.js";
import { h, replace } from "./dom.js";
import { failure, loading, segmented } from "./say.js";
import { explained } from "./verdict.js";

/** @import { ActionBody, AgentView } from "./shapes.js" */

/** The kinds of actions. @type {[string, string][]} */
const KINDS = [
  ["command.execute", "Command"],
  ["fs.read", "Read"],
  ["fs.write", "Write"],
  ["network", "Network"],
  ["tool", "Tool"],
];

/** What to type for a kind, and an example. @type {{ [kind: string]: [string, string] }} */
const TEXTS = {
  "command.execute": ["Command line", "git push origin main"],
  "fs.read": ["Path", "/srv/work/notes.md"],
  "fs.write": ["Path", "/srv/work/site/index.html"],
  network: ["Host", "example.com"],
  tool: ["Input of the tool, as JSON", '{"title": "…"}'],
};

/** The most agents that the field offers by name. */
const OFFERED = 500;

/** What stays when the person leaves the view and comes back. */
const kept = { agent: "", kind: "command.execute", tool: "", text: "" };

/** Returns the form and the place of its result. @param {{ agentId: string, }} context */
export function tryOut({ agentId }) {
  if (agentId) kept.agent = agentId;
  const names = h("datalist", { id: "try-agents" });
  const agent = h("input.input", {
    list: "try-agents",
    required: true,
    autocomplete: "off",
    spellcheck: "false",
    value: kept.agent,
  });
  const tool = h("input.input", { autocomplete: "off", spellcheck: "false", value: kept.tool });
  const toolField = h("label.field", "Tool", tool);
  const text = h("textarea.input.try-text", { rows: "3", spellcheck: "false", required: true }, kept.text);
  const what = h("span");
  const result = h("div", { "aria-live": "polite" });
  const kinds = segmented("Kind of action", KINDS, kept.kind, turn);
  const form = h(
    "form.panel.try",
    h("label.field", "Agent", agent),
    names,
    kinds,
    toolField,
    h("label.field", what, text),
    h(
      "div.row",
      h("button.button.primary", { type: "submit" }, "Judge it"),
      h("span.small.muted", "Nothing runs, and nobody is asked."),
    ),
  );

  function turn(/** @type {string} */ kind) {
    kept.kind = kind;
    const [label = "", example = ""] = TEXTS[kind] ?? [];
    toolField.hidden = kind !== "tool";
    text.placeholder = example;
    replace(what, label);
  }

  async function judge() {
    Object.assign(kept, { agent: agent.value.trim(), tool: tool.value.trim(), text: text.value });
    replace(result, loading());
    try {
      const { agent: agentId } = kept;
      const action = actionOf(kept);
      const explanation = await api.post(path`/v1/agents/${agentId}/explain`, action);
      replace(
        result,
        h(
          "section.panel.result",
          h("h2.unseen", "The decision"),
          explained(explanation, { agentId, action, isWhole: true }),
        ),
      );
    } catch (why) {
      replace(result, failure(why instanceof SyntaxError ? "The input of the tool is not valid JSON." : why));
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void judge();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  turn(kept.kind);
  void offer(names, agent);
  return h("div.stack", form, result);
}

/** Offers the agents by their ids. @param {HTMLElement} names @param {HTMLInputElement} field */
async function offer(names, field) {
  try {
    const { agents } = await api.get("/v1/agents");
    replace(
      names,
      agents.slice(0, OFFERED).map((/** @type {AgentView} */ { id }) => h("option", { value: id })),
    );
    if (field.value === "")
      field.value = agents.find((/** @type {AgentView} */ { kind }) => kind === "foreground")?.id ?? "";
  } catch {
    // The field works without the list.
  }
}

/** @param {typeof kept} action @returns {ActionBody} */
function actionOf({ kind, tool, text }) {
  if (kind !== "tool") return { operation: kind, resource: text.trim() };
  return { toolName: tool, toolInput: JSON.parse(text || "{}") };
}
