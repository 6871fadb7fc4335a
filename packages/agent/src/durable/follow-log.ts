import type { AgentInput } from "@moora/agent-core-state-machine";
import type { LogRecord } from "@moora/event-log";
import { readParts } from "@moora/event-log/store";
import { callSafely } from "../listeners.ts";
import { inTurns } from "./in-turns.ts";
import type { LogHandle } from "./log-handle.ts";
import { recordToInput } from "./session-record.ts";

/** An accepted input with its sequence number in the log. */
export interface LoggedInput {
  readonly seq: number;
  readonly input: AgentInput;
}

/** Reads the inputs after a sequence number from the log, in turns of the event loop. With `limit`, the log may return only that many. */
export async function inputsAfter(
  { log }: LogHandle,
  afterSeq: number,
  limit?: number,
): Promise<readonly LoggedInput[]> {
  const inputs: LoggedInput[] = [];
  const take = (part: readonly LogRecord[]): void => {
    for (const record of part) inputs.push({ seq: record.seq, input: recordToInput(record) });
  };
  if (limit === undefined) await readParts(log, { afterSeq }, take);
  else take(await log.read(afterSeq, limit));
  return inputs;
}

/** What `followLog` needs of a session: its new inputs, and where errors of listeners are reported. */
export interface FollowedSession {
  readonly onInput: (listener: (input: AgentInput, seq: number) => void) => () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Calls the listener with every input after a sequence number, each once, in order: first those of the log, then those that
 * become part of the session. An error of the listener goes to `onError`. Returns a function that stops the calls.
 */
export async function followLog(
  handle: LogHandle,
  { onInput, onError }: FollowedSession,
  afterSeq: number,
  listener: (seq: number, input: AgentInput) => void,
): Promise<() => void> {
  let reported = afterSeq;
  let waiting: LoggedInput[] | undefined = [];
  const emit = ({ seq, input }: LoggedInput): void => {
    if (seq <= reported) return;
    reported = seq;
    callSafely(() => listener(seq, input), onError);
  };
  const stop = onInput((input, seq) => {
    if (waiting === undefined) emit({ seq, input });
    else waiting.push({ seq, input });
  });
  try {
    await inTurns(await inputsAfter(handle, afterSeq), emit);
    // The listener may cause more inputs, which queue in `waiting` meanwhile.
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) emit(next);
    waiting = undefined;
    return stop;
  } catch (error) {
    stop();
    throw error;
  }
}
