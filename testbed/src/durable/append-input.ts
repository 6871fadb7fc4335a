import { beginReplay, type AgentInput } from "@moora/agent-core-state-machine";
import {
  chainStart,
  digestOf,
  type ChainHead,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import { headerToState, inputToRecord, recordToInput, textToHeader } from "../agent-internals.ts";

/** Appends inputs as the owner of a session would. */
export async function appendInputs(log: SessionLog, ...inputs: readonly AgentInput[]): Promise<void> {
  const records = await log.read();
  const replay = beginReplay(headerToState(textToHeader(log.header)), { changes: true });
  for (const record of records) replay.apply(recordToInput(record));
  let head: ChainHead = records.at(-1) ?? chainStart(log.header);
  const added = inputs.map((input): LogRecord => {
    const record = inputToRecord(head, input, replay.apply(input)?.changes ?? []);
    head = record;
    return record;
  });
  await log.append(records.length, added);
}

/** Saves a snapshot, and appends the record that confirms it; at a time that changes nothing in the state. */
export async function saveConfirmed(
  log: SessionLog,
  snapshot: Omit<Snapshot, "bodyDigest">,
  timestamp: number,
): Promise<void> {
  const bodyDigest = digestOf(snapshot.body);
  await appendInputs(log, { type: "snapshot-taken", seq: snapshot.seq, digest: bodyDigest, timestamp });
  await log.saveSnapshot({ ...snapshot, bodyDigest });
}
