import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkCount, checkOptionNames, type OptionNames } from "../check-options.ts";
import type { McpToolRule } from "./tool-policy.ts";

const names: OptionNames<McpToolRule> = {
  name: true,
  include: true,
  risk: true,
  approval: true,
  replay: true,
  timeoutMs: true,
};

/** The values of each field that has a fixed set of them. */
const valuesOf: Readonly<Partial<Record<keyof McpToolRule, readonly unknown[]>>> = {
  include: [true, false],
  risk: ["low", "medium", "high", "critical"],
  approval: ["always", "never"],
  replay: ["safe", "keyed", "once"],
};

/** Throws `BuildError` for what a rule returned about a tool if it has an unknown field or an invalid value. */
export function checkRule(rule: McpToolRule, tool: string): void {
  const place = `the rule for the tool ${tool}`;
  checkOptionNames(place, rule, names);
  const fields: Readonly<Record<string, unknown>> = { ...rule };
  for (const [name, values] of Object.entries(valuesOf)) {
    const value = fields[name];
    if (value !== undefined && !values.includes(value))
      refuse(`${name} of ${place} must be one of ${values.join(", ")}, got ${shownValue(value)}.`);
  }
  checkCount(`timeoutMs of ${place}`, rule.timeoutMs);
}
