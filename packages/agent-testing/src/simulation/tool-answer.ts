import type { ToolOutcome } from "@moora/agent-core-effects";
import type { ToolAnswer } from "./action.ts";
import { oversizedText } from "./sim-log.ts";

/** The kinds of tool results; all but `success` and `real` are faults that `faults` can leave out. */
export const toolAnswerKinds = [
  "success",
  "real",
  "failure",
  "asks",
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
    case "asks":
      return {
        isSuccess: false,
        error: "The tool asks.",
        code: "tool-error",
        asks: { question: "Which one?", state: { asked: true } },
      };
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
