/** The shapes of `/v1` that the views besides the inbox read. `docs/http-api.md` describes each field. */

import type { Tier, Use } from "./types.js";

export interface AgentView {
  id: string;
  ownerId: string;
  name?: string;
  kind: string;
  workingDir: string;
  mode: string;
  parent?: string;
  runId?: string;
}

export type Origin =
  | { kind: "agent"; agentId: string }
  | { kind: "file"; place: string }
  | { kind: "operator" }
  | { kind: "person"; by: string; means: string; requestId?: string };

export interface Grant {
  id: string;
  agentId: string;
  permission: string;
  hold: "use" | "pass_on";
  origin: Origin;
  reason?: string;
  scope: string;
  runId?: string;
  since: string;
  until?: string;
  depth: number;
  text: string;
}

export interface SavedDecision {
  id: string;
  requestId?: string;
  agentId: string;
  verdict: string;
  tool: string;
  operation: string;
  resource: string;
  scope: string;
  gives: string[];
  by: string;
  means: string;
  reason?: string;
  since: string;
  until?: string;
}

export interface Place {
  file: string;
  line: number;
}

export interface AppliedRule {
  rule: string;
  verdict: string;
  /** The agent above from which the rule binds this one. */
  of?: string;
  place: Place;
}

export interface PermissionState {
  mode: string;
  run: string;
  mayAsk: boolean;
  reads: string;
  defaultVerdict: string;
  modesAbove: { agent: string; mode: string }[];
  rules: AppliedRule[];
  protected: string[];
}

export interface ChainLink {
  kind: "grant" | "free_reading" | "replaced";
  grant?: Grant;
  text: string;
}

export interface StageResult {
  stage: string;
  says?: string;
  source?: string;
  reason?: string;
  ruleRefs?: unknown[];
}

export interface Explanation {
  decision: {
    allow: boolean;
    decision: string;
    decisionSource: string;
    tier: Tier;
    missing: string[];
    reason: string;
  };
  decidedBy: string;
  waysOut: string[];
  details: { stages: StageResult[]; uses: (Use & { decides?: boolean })[] };
  text: string;
}

/** The effects of a destructive action. */
export interface Impact {
  impactScope: string;
  rollbackAdvice: string;
}

export interface ActionBody {
  operation?: string;
  resource?: string;
  toolName?: string;
  toolInput?: unknown;
}

export interface FileProblem {
  line?: number;
  column?: number;
  text: string;
  help?: string;
}

export interface WaitingChange {
  number: number;
  wouldGain: { agentId: string; permission: string }[];
  besides: { agentId?: string; text: string }[];
}

export interface Config {
  path: string;
  text?: string;
  /** The text that is in force, if it is another one. */
  inForce?: string;
  /** Why the text may not be shown. */
  hidden?: string;
  problems: FileProblem[];
  lastChange?: { at: string; widened: string[]; narrowed: string[] };
  waiting?: WaitingChange;
}

/** A change of the policy file: the new lines, and those that they replace. */
export interface Edit {
  line: number;
  old: string;
  new: string;
}

/** The paths that one rule of the policy file covers now. */
export interface GlobView {
  line: number;
  glob: string;
  verdict: string;
  below: string;
  covers: string[];
  more: boolean;
}

export type Suggestion =
  | {
      kind: "add_permission";
      agentId: string;
      permission: string;
      times: number;
      edit: Edit;
      covers: string[];
      more: boolean;
    }
  | { kind: "add_rule"; agentId: string; action: string; times: number; edit: Edit }
  | { kind: "unused"; agentId: string; permission: string; grantId: string; since: string; place?: string };

export interface TaskRun {
  at: string;
  state: "started" | "ended" | "skipped";
  text: string;
}

export interface Task {
  file: string;
  id?: string;
  title?: string;
  agentId?: string;
  enabled: boolean;
  next?: string;
  problems: { line?: number; text: string }[];
  schedule?: string;
  /** The seconds between two heartbeats, for a task that runs with them. */
  heartbeatEverySeconds?: number;
  timezone?: string;
  gate?: { command: string; permissions: string[]; missing: string[] };
  runs: TaskRun[];
  upcoming: string[];
}
