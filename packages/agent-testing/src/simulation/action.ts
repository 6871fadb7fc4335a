import type { AgentConfigChange, Decision } from "@moora/agent";
import type { Draws } from "./draws.ts";
import type { ModelAnswer } from "./model-answer.ts";
import type { Release } from "./release.ts";
import type { WriteFault, WriteTarget } from "./sim-log.ts";
import type { SimWorld } from "./sim-world.ts";
import type { ToolAnswer } from "./tool-answer.ts";

/**
 * One action in a simulated session, as plain data. `nth` counts pending work from 0, oldest first;
 * `host` counts the hosts that have the session open. Both default to 0 and wrap around, so that an action keeps its
 * meaning when actions before it are left out.
 */
export type SimAction =
  | {
      readonly type: "message";
      readonly text: string;
      readonly host?: number;
      /** The log refuses the record, as it refuses one that is too large. */
      readonly oversized?: true;
    }
  | { readonly type: "cancel"; readonly host?: number }
  | { readonly type: "pause"; readonly host?: number }
  | { readonly type: "resume"; readonly host?: number }
  /** A schedule that is due once, so many milliseconds from now. */
  | { readonly type: "schedule"; readonly inMs: number; readonly host?: number }
  /**
   * The owner is canceled in the middle of a step of its sub-agents: at this passage of their logs from now on, counted from 1, before it
   * ends. A call of a log has a passage there and one back.
   */
  | { readonly type: "cancel-sub-agent"; readonly passage: number }
  /** The application changes its data by one of the recipes in `updates`. */
  | { readonly type: "update"; readonly nth?: number; readonly host?: number }
  | { readonly type: "model-streams"; readonly text: string; readonly nth?: number }
  | { readonly type: "model-answers"; readonly answer: ModelAnswer; readonly nth?: number }
  | { readonly type: "tool-answers"; readonly answer: ToolAnswer; readonly nth?: number }
  | { readonly type: "probe-answers"; readonly found: "unknown" | "ran"; readonly nth?: number }
  /** An append ends; with `crashes` its process dies before it starts the effects whose intents were appended. */
  | { readonly type: "append-ends"; readonly nth?: number; readonly crashes?: true }
  | {
      readonly type: "decide";
      /** Which of the questions that were asked, counted from the newest. */
      readonly question?: number;
      readonly decision: Decision;
      /** The decision names another digest than the question has. */
      readonly forged?: true;
      readonly host?: number;
    }
  /** An input of the log is dispatched again; `back` counts from the newest. */
  | { readonly type: "repeat-input"; readonly back: number; readonly host?: number }
  /** The application settles an open call from outside its tool. */
  | { readonly type: "outside-result"; readonly nth?: number; readonly host?: number }
  /** The first result of a call arrives after the call was settled without it. */
  | { readonly type: "late-result"; readonly nth?: number; readonly host?: number }
  | { readonly type: "time-passes" }
  | { readonly type: "clock-jumps"; readonly ms: number }
  /** Another process opens the session, with the newest release. */
  | { readonly type: "open"; readonly access: "run" | "post" }
  /** A host opens a session that no host runs; `approvesAll`: its `onApproval` approves every question. */
  | { readonly type: "take-up"; readonly approvesAll?: true }
  /** A host takes the session over from a live owner. */
  | { readonly type: "take-over" }
  | { readonly type: "crash" }
  | { readonly type: "close" }
  /**
   * The owner's next append fails; with `on` the next one that holds a decision, or three records or more; with `atOnce` before
   * it returns, also where appends take their time.
   */
  | {
      readonly type: "write-fails";
      readonly how: WriteFault;
      readonly on?: WriteTarget;
      readonly atOnce?: true;
    }
  /** The owner's next renewal of its lease finds another owner, or fails; with `while: "appending"` during an append. */
  | { readonly type: "lease"; readonly renewal: "lost" | "fails"; readonly while?: "appending" }
  | { readonly type: "listener-throws"; readonly on: "event" | "input" | "change"; readonly host?: number }
  /** The next hosts run a changed release of the agent. */
  | { readonly type: "release"; readonly release: Release };

/** A simulated session as data: its set-up, and its actions in order. */
export interface SimulatedSession {
  /** Whether appends to the log take time, so that other actions happen in between. Default: false. */
  readonly asyncAppends?: boolean;
  /** Whether the `onApproval` of the first host approves every question. Default: false, it has none. */
  readonly approvesAll?: boolean;
  /** Fields of the configuration, over those of the agent. Default: none. */
  readonly config?: AgentConfigChange;
  readonly actions: readonly SimAction[];
}

/** The actions of some types. */
export type Of<Type extends SimAction["type"]> = Extract<SimAction, { readonly type: Type }>;

/** A possible action: its weight, and the function that draws its details. */
export interface Candidate {
  readonly weight: number;
  readonly draw: () => SimAction | Promise<SimAction>;
}

/** A kind of action. */
export interface ActionRow<Action extends SimAction> {
  /** The fault or kind of answer that it counts as in a report. Default: neither. */
  fault?(action: Action): string | undefined;
  /** The actions of this kind that can be drawn in a world. Default: it is the end of something that is pending. */
  draw?(world: SimWorld, draws: Draws): readonly Candidate[];
  /** Lets it happen. Returns false, and does nothing, where it cannot happen in the world as it is. */
  perform(world: SimWorld, action: Action): boolean | Promise<boolean>;
  /** Plainer forms of it, the plainest first. Default: none, beside those without `host` and `nth`. */
  simpler?(action: Action): Iterable<SimAction>;
}

/** One row for each kind of action. */
export type ActionRows<Type extends SimAction["type"]> = { readonly [Each in Type]: ActionRow<Of<Each>> };

/** One candidate where it is possible, or none. */
export const when = (isPossible: boolean, weight: number, draw: Candidate["draw"]): readonly Candidate[] =>
  isPossible ? [{ weight, draw }] : [];

/** The item that an action means among those of a list: counted from 0, wrapping around. */
export const nthOf = <T>(items: readonly T[], nth: number = 0): T | undefined =>
  items.length === 0 ? undefined : items[nth % items.length];
