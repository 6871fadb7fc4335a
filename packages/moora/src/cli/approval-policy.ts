import type { AgentConfig } from "@moora/agent";
import { nearest } from "@moora/agent-core-effects/internal";
import { UsageError } from "./usage-error.ts";

type Policy = AgentConfig["approval"]["policy"];

const policies: Readonly<Record<string, Policy>> = {
  ask: "always",
  never: "never",
  "above:low": { above: "low" },
  "above:medium": { above: "medium" },
  "above:high": { above: "high" },
  "above:critical": { above: "critical" },
};

/** Parses `--approve`. Throws `UsageError` for an unknown value. */
export function textToPolicy(text: string = "above:medium"): Policy {
  const policy = Object.hasOwn(policies, text) ? policies[text] : undefined;
  if (policy !== undefined) return policy;
  const names = Object.keys(policies);
  const meant = nearest(text, names);
  throw new UsageError(
    `Invalid value for --approve: "${text}".`,
    meant === undefined ? `Use one of ${names.join(", ")}.` : `Did you mean "${meant}"?`,
  );
}
