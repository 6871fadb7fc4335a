import type { ToolOutcome } from "@moora/agent-core-effects";

import { oversizedText } from "./sim-log.ts";

/** The end of a tool call. Kind `real` delivers the result of the tool itself, if it is executed. */
export interface ToolAnswer {
  readonly kind: ToolAnswerKind;
  readonly outcome?: ToolOutcome;
  /** For kind `lie`: the JSON text of what the tool returns, which is not an outcome. */
  readonly lie?: string;
}

/** The kinds of tool results; all but `success` and `real` are faults that `faults` can leave out. */
export const toolAnswerKinds = [
  "success",
  "real",
  "failure",
  "throw",
  "lie",
  "huge",
  "hostile",
  "oversized",
] as const;

export type ToolAnswerKind = (typeof toolAnswerKinds)[number];

/** What a tool returns for an answer; undefined for `throw`, where it throws. */
export function toolAnswerToOutcome({ kind, outcome, lie }: ToolAnswer): ToolOutcome | undefined {
  switch (kind) {
    case "lie":
      // No type allows it, and every host has to survive it.
      return JSON.parse(lie ?? "null");
    case "throw":
      return undefined;
    case "failure":
      return outcome ?? { isSuccess: false, error: "It did not work.", code: "tool-error" };
    case "huge":
      return { isSuccess: true, content: "y".repeat(150_000) };
    case "oversized":
      return { isSuccess: true, content: oversizedText };
    case "success":
    case "real":
    case "hostile":
      return outcome ?? { isSuccess: true, content: "ok" };
  }
}
