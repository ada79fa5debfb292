/** The shapes of `/v1` that the dashboard reads. `docs/http-api.md` describes each field. */

export type Tier = "safe" | "dangerous" | "destructive";
export type ScopeName = "once" | "session" | "until" | "always";
export type Status = "pending" | "granted" | "denied" | "expired" | "cancelled" | "unavailable" | "unknown";
/** What an element may contain. Texts and numbers are shown as text, empty values not at all. */
export type Child = string | number | Node | null | undefined | false | Child[];
export type Connection = "connecting" | "live" | "lost";

import type { Impact } from "./shapes.js";

/** One part of a command line, as it was judged. */
export interface Part {
  text: string;
  tier: Tier;
  reason: string;
}

/** One object that an action uses. */
export interface Use {
  operation: string;
  resource: string;
  /** True for a path that is used with everything below it. */
  tree?: boolean;
  origin: string;
}

export interface Action {
  operation: string;
  tool: string;
  resource: string;
  /** The directory in which the action happens, if it is not the agent's working directory. */
  directory?: string;
  input: unknown;
  tier: Tier;
  tierReason: string;
  destructive: boolean;
  parts?: Part[];
  /** The number of the parts that are not told. */
  partsLeftOut?: number;
  uses?: Use[];
  /** What an approval for longer than the run would cover. */
  shape?: string;
  /** The effects of a destructive action, and advice. */
  impact?: Impact;
}

export interface Question {
  agentId: string;
  ownerId: string;
  agentName?: string;
  agentKind?: string;
  above?: string[];
  hooks?: string[];
  onlyLacks?: boolean;
  details?: string;
  permissions: string[];
  action?: Action;
  reason: string;
  scope?: string;
  scopes?: ScopeName[];
  onceOnly: boolean;
  runId: string;
  since: string;
  expiresAt: string;
  route: string;
  text: string;
}

export interface Resolution {
  agentId: string;
  granted: string[];
  refused: string[];
  scope?: string;
  decider: string;
  feedback?: string;
  updatedInput?: unknown;
  at: string;
  text: string;
}

export interface RequestState {
  id: string;
  code: string;
  status: Status;
  question?: Question;
  resolution?: Resolution;
}

/** Where one permission leads, and what it covers now. */
export interface PermissionPreview {
  permission: string;
  path?: string;
  leadsTo?: string;
  kind: "file" | "directory" | "missing" | "hidden" | "none";
  covers: string[];
  more: boolean;
}

export interface Envelope {
  type: string;
  eventId: string;
  timestamp: string;
  sequence: number;
  runtimeId: string;
  ownerId?: string;
  agentId?: string;
  runId?: string;
  requestId?: string;
  grantId?: string;
  decisionId?: string;
  payload: Record<string, unknown>;
  refs?: Record<string, unknown>;
}

export interface Session {
  credentialId: string;
  role: "agent" | "approver" | "operator";
  ownerId?: string;
  by?: string;
  agentId?: string;
  expiresAt?: string;
  version?: string;
}

/** What a view gets when it is shown. */
export interface ViewContext {
  session: Session;
  /** The parts of the address after the name of the view. */
  parameters: string[];
}

export interface View {
  element: HTMLElement;
  title: string;
  leave?(): void;
}
