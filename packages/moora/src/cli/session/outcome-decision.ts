import type { Decision } from "@moora/agent";
import { nearest } from "@moora/agent-core-effects/internal";
import type { GivenOptions } from "../options.ts";
import { UsageError } from "../usage-error.ts";

const outcomes = ["run-again", "worked", "failed", "unknown"] as const;

type Outcome = (typeof outcomes)[number];

/** The decision that `moora settle` names. Throws `UsageError` for an unknown outcome, and for an option that does not fit. */
export function outcomeDecision(text: string, options: GivenOptions): Decision {
  const outcome = outcomes.find((name) => name === text);
  if (outcome === undefined) throw unknownOutcomeError(text);
  checkOption(options, "result", outcome, ["worked"]);
  checkOption(options, "reason", outcome, ["failed", "unknown"]);
  const reason = options.text("reason");
  switch (outcome) {
    case "run-again":
      return { outcome };
    case "worked":
      return { outcome, result: options.text("result") ?? "" };
    case "failed":
    case "unknown":
      return { outcome, ...(reason !== undefined && { reason }) };
  }
}

function checkOption(
  options: GivenOptions,
  name: "result" | "reason",
  outcome: Outcome,
  allowed: readonly Outcome[],
): void {
  if (!options.has(name) || allowed.includes(outcome)) return;
  throw new UsageError(`--${name} cannot be used with "${outcome}".`, `It is for ${allowed.join(" and ")}.`);
}

function unknownOutcomeError(text: string): UsageError {
  const meant = nearest(text, outcomes);
  return new UsageError(
    `Unknown outcome "${text}".`,
    meant === undefined ? `Use one of ${outcomes.join(", ")}.` : `Did you mean "${meant}"?`,
  );
}
