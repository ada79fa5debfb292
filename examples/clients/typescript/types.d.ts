/** The types of the Permissions API. `docs/server.md` describes each field. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type ToolInput = { [name: string]: Json };
export type Tier = "safe" | "dangerous" | "destructive";
export type Decision = "approve" | "reject" | "approve_always";

export interface Answer {
  allow: boolean;
  tier: Tier;
  reason: string;
  requestId?: string;
  updatedInput?: ToolInput;
  feedback?: string;
}

export interface State {
  requestId: string;
  status: "pending" | "approved" | "rejected" | "expired" | "cancelled" | "unavailable";
  reason?: string;
  feedback?: string;
  updatedInput?: ToolInput;
}

export interface Item {
  id: string;
  code: string;
  agentId: string;
  userId: string;
  toolName: string;
  toolInput: ToolInput;
  toolInputCut: boolean;
  tier: Tier;
  reason: string;
  permissions: string[];
  timestamp: number;
  expiresAt: number;
  status: "pending";
}

export interface Decided {
  success: true;
  requestId: string;
  decision: Decision;
  tier: Tier;
}

/** A frame of `/ws/permissions`. Frames of further types may come. */
export type Frame =
  | { type: "connected"; data: { userId: string; timestamp: number } }
  | { type: "permission_request"; data: Item & { command: string } }
  | { type: "request_resolved"; data: { requestId: string; outcome: string; decision: string; timestamp: number } }
  | { type: "decision_ack"; data: { requestId: string; decision: Decision; timestamp: number } }
  | { type: "heartbeat" | "pong"; data: { timestamp: number } }
  | { type: "error"; data: { message: string; code: string; requestId?: string } };
