import { refuse, shownValue } from "@moora/agent-core-effects";
import { SessionError } from "./durable/session-error.ts";

/** Throws `BuildError` for what `defineAgent` did not return: hosts without types may give anything. */
export function checkIsAgent(caller: string, agent: unknown): void {
  if (!isObject(agent) || !isObject(agent["parts"]) || !isObject(agent["config"]))
    refuse(`${caller} needs an agent, got ${shownValue(agent)}. Define it with defineAgent({ llm, ... }).`);
}

/** Throws `InvalidOption` for what cannot open sessions. */
export function checkIsLog(log: unknown): void {
  if (isObject(log) && typeof log["open"] === "function") return;
  const problem = log === undefined ? "log is missing." : `log must be an event log, got ${shownValue(log)}.`;
  throw invalid(`${problem} Give one, such as memoryLog(), sqliteLog(file) or jsonlLog(folder).`);
}

const accesses: readonly unknown[] = ["run", "post", "read", undefined];

/** Throws `InvalidOption` for options of `openSession` of the wrong form. */
export function checkOpenOptions(options: unknown): void {
  if (!isObject(options))
    throw invalid(`openSession needs an object of options, { log, id }, got ${shownValue(options)}.`);
  checkIsLog(options["log"]);
  const { access } = options;
  if (!accesses.includes(access))
    throw invalid(`access must be "run", "post" or "read", got ${shownValue(access)}.`);
}

const invalid = (message: string): SessionError => new SessionError("InvalidOption", message);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
