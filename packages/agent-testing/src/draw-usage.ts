import type { InputOf } from "@moora/agent-core-state-machine";
import type { Choose } from "./choose.ts";

/** The usage of the models that a tool has called: reported with its end, to follow, or both. */
export const drawToolUsage = (
  choose: Choose,
): Pick<InputOf<"tool-call-completed">, "usage" | "usageFollows"> => ({
  ...(choose(3) === 0 ? { usage: drawUsage(choose) } : {}),
  ...(choose(3) === 0 ? { usageFollows: true } : {}),
});

/** The usage of calls. */
export const drawUsage = (choose: Choose): NonNullable<InputOf<"re-act-observed">["usage"]> => ({
  inputTokens: choose(400),
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: choose(100),
  reasoningTokens: 0,
});
