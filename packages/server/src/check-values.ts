import {
  checkAgent,
  checkOptions,
  isObject,
  oneOf,
  optionForms,
  required,
  withMethods,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { defaultServerLimits, type AgentServerOptions } from "./server-options.ts";
import { defaultWorkerOptions } from "./worker/worker-options.ts";

/** The forms of options that are positive integers. */
const numbersOf = (defaults: object): Readonly<Record<string, "positiveInteger">> =>
  Object.fromEntries(Object.keys(defaults).map((name) => [name, "positiveInteger"]));

const forms: OptionForms<AgentServerOptions> = {
  agents: required({
    expectation: "a list of one or more agents",
    fits: (value) => Array.isArray(value) && value.length > 0,
  }),
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
    fields: numbersOf(defaultWorkerOptions),
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
  limits: { ...optionForms.object, fields: numbersOf(defaultServerLimits) },
  owner: "string",
  leaseMs: "positiveInteger",
  clock: "clock",
  onError: "function",
  onLog: "function",
};

/** Throws `BuildError` for options whose values have the wrong form: callers without types may pass any value. */
export function checkValues(options: AgentServerOptions): void {
  checkOptions("createAgentServer", options, forms);
  for (const [index, agent] of options.agents.entries())
    checkAgent(`agents[${index}] of createAgentServer`, agent);
}
