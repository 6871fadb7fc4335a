import type { DispatchedInput } from "@moora/agent-core-effects";
import { LogError, type EventLog, type SessionLog } from "@moora/event-log";
import type { Agent } from "../define-agent.ts";
import { SessionError } from "../durable/session-error.ts";
import { textToHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";
import { randomId } from "../user-message.ts";
import { foldHeader, newSessionHeader, recordInputs, type FoldedSession } from "./folded-session.ts";
import { step } from "@moora/agent-core-state-machine";

/** The options of `appendInputs`. */
export interface AppendOptions {
  /** The log that has the session, or in which it is created. */
  readonly log: EventLog;
  /** The id of the session in the log. */
  readonly id: string;
  /** What an earlier call returned, so that only newer records are read. Default: all records are. */
  readonly after?: FoldedSession;
  /** The user to whom a new session belongs. Default: none. */
  readonly user?: string;
}

/** A session after `appendInputs`. `applied`: how many of the inputs changed it. */
export interface AppendedInputs extends FoldedSession {
  readonly applied: number;
}

/**
 * Appends inputs to a session in a log for an engine that runs effects by itself: folds the log, applies the inputs, and appends
 * the records of those that change the session. Folds and applies again if another process was first. Creates the session if the
 * log has none of this id. Resolves when the records are durable. Without inputs it only folds. Takes no lease: the engine must
 * start each effect once, and report an interrupted one (`interruptionOf`). Rejects with `LogError`, and with `SessionError` for
 * a session of another agent or of a newer release.
 */
export async function appendInputs(
  agent: Agent<unknown>,
  options: AppendOptions,
  inputs: readonly DispatchedInput[],
): Promise<AppendedInputs> {
  const session = await sessionOf(agent, options);
  let folded = options.after ?? foldHeader(session.header);
  for (;;) {
    folded = await foldNew(session, folded);
    const { records, ...after } = recordInputs(folded, inputs);
    if (records.length === 0) return { ...after, applied: 0 };
    try {
      await session.append(folded.head.seq, records);
      return { ...after, applied: records.length };
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "Conflict") throw error;
    }
  }
}

async function sessionOf(agent: Agent<unknown>, options: AppendOptions): Promise<SessionLog> {
  const found = (await options.log.open(options.id)) ?? (await createOrOpen(agent, options));
  const { name } = textToHeader(found.header).agent;
  if (name === agent.name) return found;
  const message = `This session belongs to the agent "${name}", not to "${agent.name}".`;
  throw new SessionError("WrongAgent", message);
}

async function createOrOpen(agent: Agent<unknown>, { log, id, user }: AppendOptions): Promise<SessionLog> {
  try {
    return await log.create(id, newSessionHeader(agent, randomId("incarnation"), user));
  } catch (error) {
    const isTaken = error instanceof LogError && error.code === "LogExists";
    const concurrent = isTaken ? await log.open(id) : undefined;
    if (concurrent === undefined) throw error;
    return concurrent;
  }
}

/** The session with the records that were appended since. */
async function foldNew(
  session: SessionLog,
  { state: before, head: start }: FoldedSession,
): Promise<FoldedSession> {
  let state = before;
  let head = start;
  for (const record of await session.read(start.seq)) {
    state = step(recordToInput(record))(state).state;
    head = { seq: record.seq, digest: record.digest };
  }
  return { state, head };
}
