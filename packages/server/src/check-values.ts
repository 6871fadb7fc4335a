import {
  checkAgent,
  checkOptions,
  isObject,
  oneOf,
  required,
  withMethods,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import type { AgentServerOptions } from "./server-options.ts";

const forms: OptionForms<AgentServerOptions> = {
  agents: { expectation: "a list of one or more agents", fits: (value) => Array.isArray(value) },
  log: required({
    ...withMethods("an event log", "open", "list"),
    expectation: "an event log, such as sqliteLog(file) or memoryLog()",
  }),
  authorize: "function",
  allowedHosts: "texts",
  allowedOrigins: "texts",
  basePath: "string",
  worker: {
    expectation: "true, false or an object of options",
    fits: (value) => typeof value === "boolean" || isObject(value),
  },
  blobs: {
    expectation: "false or an object of options",
    fits: (value) => value === false || isObject(value),
  },
  context: "function",
  metrics: "boolean",
  inspector: "function",
  mcp: "function",
  toolParts: oneOf("dynamic", "static"),
  limits: "object",
  owner: "string",
  leaseMs: "positiveInteger",
  clock: "clock",
  onError: "function",
  onLog: "function",
};

/** Throws `BuildError` for options whose values have the wrong form: callers without types may pass any value. */
export function checkValues(options: AgentServerOptions): void {
  checkOptions("createAgentServer", options, forms);
  const agents: readonly unknown[] = options.agents ?? [];
  for (const [index, agent] of agents.entries()) checkAgent(`agents[${index}] of createAgentServer`, agent);
}
