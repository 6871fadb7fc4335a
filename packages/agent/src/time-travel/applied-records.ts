import type { AgentInput, Replay } from "@moora/agent-core-state-machine";
import type { ChainHead, LogRecord } from "@moora/event-log";
import { inTurns } from "../durable/in-turns.ts";
import { inputToRecord } from "../durable/session-record.ts";

/**
 * Applies inputs to a replay with changes, and returns the records of those that apply, after the head of a chain. Takes each input when
 * those before it are applied.
 */
export async function appliedRecords(
  replay: Replay,
  head: ChainHead,
  inputs: Iterable<AgentInput>,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  await inTurns(inputs, (input) => {
    const step = replay.apply(input);
    if (step !== undefined) records.push(inputToRecord(records.at(-1) ?? head, input, step.changes));
  });
  return records;
}
