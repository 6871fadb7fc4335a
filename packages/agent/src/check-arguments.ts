import { checkAgent, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkLogOptions, isObject, type OptionForms } from "./check-options.ts";
import { SessionError } from "./durable/session-error.ts";
import type { Agent } from "./define-agent.ts";
import type { OpenOptions } from "./open-session.ts";

/**
 * Throws `BuildError` for a value that `defineAgent` did not return. `fields` are those that `caller` needs.
 */
export const checkIsAgent = (caller: string, agent: unknown, fields?: readonly (keyof Agent)[]): void =>
  checkAgent(caller, agent, fields);

/** Throws `BuildError` for a value that is not the state of an agent. */
export function checkIsState(state: unknown): void {
  if (!isObject(state) || !isObject(state["reActContext"]) || !("messages" in state)) {
    refuse(
      `state must be the state of an agent, got ${shownValue(state)}. Pass one that a session or a run returned.`,
    );
  }
}

/** Throws `BuildError` for a value that is not the `parts` of an agent. */
export function checkIsParts(parts: unknown): void {
  if (!isObject(parts) || !(parts["tools"] instanceof Map))
    refuse(`parts must be the parts of an agent, got ${shownValue(parts)}. Pass agent.parts.`);
}

/** Throws `BuildError` for a value that is not a string. */
export function checkIsText(name: string, value: unknown): void {
  if (typeof value !== "string") refuse(`${name} must be a string, got ${shownValue(value)}.`);
}

/** Throws `BuildError` for the condition of a wait that is not a function. */
export function checkIsReached(isReached: unknown): void {
  if (typeof isReached !== "function")
    refuse(`isReached must be a function of the state, got ${shownValue(isReached)}.`);
}

/** Throws `BuildError` for a value that is not an effect. */
export function checkIsEffect(effect: unknown): void {
  if (!isObject(effect) || typeof effect["type"] !== "string" || typeof effect["key"] !== "string")
    refuse(`effect must be an effect, got ${shownValue(effect)}. Pass one of effectsAt(state).`);
}

/** The message for a value that is not a log; undefined for a log. */
export function logProblem(log: unknown): string | undefined {
  if (isObject(log) && typeof log["open"] === "function") return undefined;
  const problem = log === undefined ? "log is missing." : `log must be an event log, got ${shownValue(log)}.`;
  return `${problem} Give one, such as memoryLog(), sqliteLog(file) or jsonlLog(folder).`;
}

/** Throws `SessionError` with the code `InvalidOption` for a value that is not a log. */
export function checkIsLog(log: unknown): void {
  const problem = logProblem(log);
  if (problem !== undefined) throw invalid(problem);
}

/** Throws `SessionError` with the code `InvalidOption` for an id that is missing or not a string. */
export function checkIsId(id: unknown): void {
  if (id === undefined) throw invalid("id is missing. Give the id of the session in the log.");
  if (typeof id !== "string") throw invalid(`id must be a string, got ${shownValue(id)}.`);
}

/** Throws `SessionError` with the code `InvalidOption` for a value that is not the number of a record. */
export function checkIsSeq(name: string, seq: unknown): void {
  if (typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0) return;
  throw invalid(`${name} must be the number of a record, an integer from 0, got ${shownValue(seq)}.`);
}

const accesses: readonly unknown[] = ["run", "post", "read", undefined];

const openForms: OptionForms<OpenOptions> = {
  log: "any",
  id: "any",
  access: "any",
  owner: "string",
  clock: "clock",
  context: "any",
  blobs: "object",
  leaseMs: "any",
  waitMs: "any",
  isOwnerGone: "function",
  onApproval: "function",
  onEvent: "function",
  onError: "function",
  onLog: "function",
  newId: "function",
  user: "string",
  caller: "string",
  snapshots: "boolean",
  onNotice: "function",
};

/**
 * Throws `SessionError` with the code `InvalidOption` for an unknown option of `openSession` or one of the wrong form.
 */
export function checkOpenOptions(options: unknown): void {
  if (!isObject(options))
    throw invalid(`openSession needs an object of options, { log, id }, got ${shownValue(options)}.`);
  checkIsLog(options["log"]);
  checkLogOptions("openSession", options, openForms);
  checkIsId(options["id"]);
  const { access } = options;
  if (!accesses.includes(access))
    throw invalid(`access must be "run", "post" or "read", got ${shownValue(access)}.`);
}

const invalid = (message: string): SessionError => new SessionError("InvalidOption", message);
