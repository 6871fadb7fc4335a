import type { AgentState, Decision } from "@moora/agent";
import type { HostAbility } from "./host.ts";
import type { WorkMoment } from "./world.ts";

/** Work of the model or of a tool, at its beginning, at its end, or when it is aborted. */
export interface Moment {
  readonly work: string;
  readonly moment: "begin" | "end" | "aborted";
}

/** One step of a case. */
export type HostStep =
  /** Posts a message of the user, which must apply. `elsewhere`: from another process. */
  | { readonly type: "ask"; readonly message: string; readonly from?: "elsewhere" }
  /** Posts two messages at the same time, the second one from another process. Both must apply. */
  | { readonly type: "ask-both"; readonly messages: readonly [string, string] }
  /** Posts one message this number of times at once, the last time from `from`. Exactly one must apply. */
  | {
      readonly type: "ask-at-once";
      readonly message: string;
      readonly times: number;
      readonly from?: "elsewhere";
    }
  /** Posts inputs that do not apply to a session whose loop has ended: none may be reported as applied. */
  | { readonly type: "post-ignored" }
  /** Posts inputs that no caller may post: each must be rejected, or reported as not applied. */
  | { readonly type: "post-refused" }
  /** Decides the open question `times` times at once. Exactly one must apply. */
  | { readonly type: "decide"; readonly decision: Decision; readonly times: number }
  | { readonly type: "cancel" | "pause" | "resume" }
  /**
   * Another session calls the model, which fails, and calls it again: meanwhile, and since the last pause, no work of the case
   * begins.
   */
  | { readonly type: "nothing-begins" }
  /** Posts a message to another session, and waits until that has answered it. */
  | { readonly type: "ask-other"; readonly message: string }
  /** Posts a message to another session, and waits until that asks a person. A decision on the question of the case must not apply there. */
  | { readonly type: "decide-other"; readonly message: string }
  /** Removes the session of the case. What it has been asked is not a part of the next one. */
  | { readonly type: "remove" }
  /** Posts a decision on the question that the session asked when it was removed. It must not apply. */
  | { readonly type: "decide-removed" }
  /** Makes work wait at a moment, from this time on (default: 1, the first). */
  | ({ readonly type: "hold"; readonly from?: number } & Moment)
  /** Lets all work continue that waits. */
  | { readonly type: "release-all" }
  /** Waits until work has reached a moment this number of times. */
  | ({ readonly type: "reach"; readonly times: number } & Moment)
  /** Waits until the result of a call of a tool is part of the session. */
  | { readonly type: "reported"; readonly tool: string }
  /** Waits until the session asks a person. */
  | { readonly type: "question" }
  /** Waits until the session has answered all messages or failed. */
  | { readonly type: "end" }
  /** Kills the process, lets time pass (default: none), and starts another process with this release of the agent. */
  | { readonly type: "restart"; readonly release: number; readonly afterMs?: number }
  /** Another process takes the session over from one that still runs. */
  | { readonly type: "take-over" }
  /** Lets time pass. */
  | { readonly type: "pass"; readonly ms: number };

/** What is true at the end of a case. What is left out is not checked. */
export interface HostExpectations {
  /** The control state of the session. */
  readonly control: AgentState["reActContext"]["control"]["type"];
  /** The reason of a failed loop. */
  readonly failure?: string;
  readonly answer?: string;
  /** How often work began or ended, or was aborted, by its name. */
  readonly moments?: Readonly<Partial<Record<WorkMoment["moment"], Readonly<Record<string, number>>>>>;
  /** How many idempotency keys the work had, by its name. */
  readonly keys?: Readonly<Record<string, number>>;
  /** For each tool, "success", or the code of the failure of its last call. */
  readonly results?: Readonly<Record<string, string>>;
  /** The text that was streamed. */
  readonly streamed?: string;
  /** The messages of the user, in any order. */
  readonly messages?: readonly string[];
  readonly count?: number;
  readonly systemPrompt?: string;
}

/** A case as data: what happens, and what is true at its end. */
export interface HostScenario {
  /** A sentence about hosts. */
  readonly name: string;
  readonly group: string;
  readonly needs: readonly HostAbility[];
  readonly steps: readonly HostStep[];
  readonly expects: HostExpectations;
  /** `every-commit`: the case runs once for each record, and the process dies before and after it. Default: it runs once. */
  readonly deaths?: "every-commit";
}

/** The error of a case: what was expected of the host, and what was found. */
export class HostNotConforming extends Error {
  override readonly name = "HostNotConforming";
}
