import { BuildError, needsContext, systemClock, type Agent } from "@moora/agent";
import { blobProblem } from "@moora/agent-core-effects/internal";
import { Logger, safeErrorListener } from "@moora/agent/internal";
import { checkedHosts, checkedOrigin } from "./access/site-options.ts";
import { checkValues } from "./check-values.ts";
import { LiveHub } from "./live/live-hub.ts";
import { ServerCounters } from "./metrics/server-counters.ts";
import { defaultServerLimits, type AgentServerOptions, type ServerContext } from "./server-options.ts";
import { workerOptionsOf } from "./worker/worker-options.ts";

/** The context of a server with these options. Throws `BuildError` for an unknown or invalid option. */
export function optionsToContext(options: AgentServerOptions): ServerContext {
  checkValues(options);
  checkFiles(options);
  checkContexts(options);
  const { log, agents, allowedHosts = [], allowedOrigins = [], basePath = "" } = options;
  const clock = options.clock ?? systemClock;
  return {
    ...options,
    agents: agentsByName(agents),
    allowedHosts: checkedHosts(allowedHosts, options.authorize),
    allowedOrigins: new Set(allowedOrigins.map(checkedOrigin)),
    basePath: checkedBasePath(basePath),
    limits: { ...defaultServerLimits, ...options.limits },
    blobs: options.blobs ?? (log.blobs === undefined ? false : {}),
    worker: workerOptionsOf(options.worker ?? false, log),
    counters: new ServerCounters(),
    owner: options.owner ?? `server-${crypto.randomUUID()}`,
    toolParts: options.toolParts ?? "dynamic",
    liveHub: log.live === undefined ? undefined : new LiveHub(log.live, clock),
    clock,
    onError: safeErrorListener(options.onError),
    loggerOf: (id) => new Logger(id, options.onLog),
  };
}

/** Throws `BuildError` for a path that routes cannot begin with. */
function checkedBasePath(basePath: string): string {
  if (/^(\/[A-Za-z0-9._~-]+)*$/.test(basePath)) return basePath;
  throw new BuildError(`basePath must be a path such as "/api", got ${JSON.stringify(basePath)}.`);
}

/** Throws `BuildError` for options of files that `openSession` would refuse. */
function checkFiles({ blobs, log }: AgentServerOptions): void {
  const problem = blobs === false ? undefined : blobProblem("createAgentServer", blobs, log.blobs);
  if (problem !== undefined) throw new BuildError(problem);
}

/** Throws `BuildError` for an agent that needs a context which the server does not give. */
function checkContexts({ agents, context, log }: AgentServerOptions): void {
  if (context !== undefined || log.owner !== undefined) return;
  const needy = agents.find(needsContext);
  if (needy === undefined) return;
  throw new BuildError(
    `The agent "${needy.name}" needs a context. Give createAgentServer the option context.`,
  );
}

function agentsByName(agents: readonly Agent<unknown>[]): ReadonlyMap<string, Agent<unknown>> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const double = agents.find((agent) => byName.get(agent.name) !== agent);
  if (double !== undefined) {
    throw new BuildError(
      `Two agents have the name "${double.name}". Give each one its own: defineAgent({ name }).`,
    );
  }
  return byName;
}
