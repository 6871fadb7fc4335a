import { checkOptions, oneOf, type OptionForms } from "@moora/agent-core-effects/internal";
import type { McpToolRule } from "./tool-policy.ts";

const forms: OptionForms<McpToolRule> = {
  name: "string",
  include: oneOf(true, false),
  risk: oneOf("low", "medium", "high", "critical"),
  approval: oneOf("always", "never"),
  replay: oneOf("safe", "keyed", "once"),
  timeoutMs: "positiveInteger",
};

/** Throws `BuildError` for what a rule returned about a tool if it has an unknown field or an invalid value. */
export function checkRule(rule: McpToolRule, tool: string): void {
  const place = `the rule for the tool ${tool}`;
  checkOptions(place, rule, forms, { placeOf: (path) => `${path} of ${place}` });
}
