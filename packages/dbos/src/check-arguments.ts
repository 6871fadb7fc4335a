import { DBOS } from "@dbos-inc/dbos-sdk";
import { BuildError, type Agent } from "@moora/agent";
import { checkContext, checkSubAgentQuestions } from "@moora/agent/internal";
import { checkAgent, checkOptions, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import type { DbosHostOptions } from "./dbos-options.ts";

/** The longest time of a timer, in milliseconds. */
const longestMs = 2 ** 31 - 1;

const forms: OptionForms<DbosHostOptions> = {
  log: "any",
  takeOver: "any",
  takeOverPollMs: {
    expectation: `a positive number of milliseconds up to ${longestMs}`,
    fits: (value) => typeof value === "number" && value > 0 && value <= longestMs,
  },
  context: "any",
  onProgress: "function",
  onError: "function",
  onLog: "function",
};

/**
 * Throws `BuildError` for an invalid argument of `dbosHost`, without the context that the agent needs, for a sub-agent that asks a person
 * and has no `onApproval`, and if DBOS runs already.
 */
export function checkArguments(agent: Agent<unknown>, options: DbosHostOptions): void {
  checkAgent("dbosHost", agent, ["parts", "runLimits"]);
  checkOptions("dbosHost", options, forms);
  if (typeof options.log?.open !== "function")
    throw new BuildError("dbosHost needs log, an event log. Give one, such as postgresLog(url).");
  const { owner } = options.log;
  if (owner !== undefined) {
    throw new BuildError(
      `log must not be a dbosLog or another log with an owner, got one of ${shownValue(owner)}. Pass the log that it wraps, such as postgresLog(url).`,
    );
  }
  if (options.takeOver !== undefined && typeof options.takeOver.connect !== "function")
    throw new BuildError("takeOver must be a pool of pg. Give one: new pg.Pool({ connectionString }).");
  if (options.takeOverPollMs !== undefined && options.takeOver === undefined)
    throw new BuildError("takeOverPollMs needs takeOver, which looks for processes. Give both or neither.");
  checkContext("dbosHost", agent, options.context);
  checkSubAgentQuestions("dbosHost", agent);
  if (DBOS.isInitialized())
    throw new BuildError("dbosHost registers workflows. Call it before DBOS.launch().");
}
