import { beginReplay, parseState, stateVersion, type AgentState } from "@moora/agent-core-state-machine";
import { chainStart, type ChainHead, type LogRecord, type SessionLog, type Snapshot } from "@moora/event-log";
import { SessionError } from "./session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "./session-header.ts";
import { recordToInput } from "./session-record.ts";

/** A session as its log tells it. */
export interface Restored {
  readonly header: SessionHeader;
  readonly state: AgentState;
  readonly head: ChainHead;
  /** Set when a newer release wrote on: the state is the one before its first record, and nothing may be appended. */
  readonly unreadable?: SessionError;
  /** A snapshot that was there and could not be used; the fold began at the beginning. */
  readonly snapshotIgnored?: boolean;
}

/** What a snapshot was made by: another version of the state's form is not read. */
export const snapshotVersion: string = `state-${stateVersion}`;

/** Folds a log, from its snapshot where there is a good one. */
export async function restored(log: SessionLog): Promise<Restored> {
  const header = textToHeader(log.header);
  const snapshot = await log.snapshot();
  const usable = snapshot === undefined ? undefined : await fromSnapshot(log, snapshot);
  if (usable !== undefined) return folded(header, usable.state, usable.head, usable.tail);
  const all = folded(header, headerToState(header), chainStart(log.header), await log.read());
  return snapshot === undefined ? all : { ...all, snapshotIgnored: true };
}

interface Beginning {
  readonly state: AgentState;
  readonly head: ChainHead;
  readonly tail: readonly LogRecord[];
}

/** A snapshot counts only if its version is ours, its state is one, and the record it stands for is in the log. */
async function fromSnapshot(log: SessionLog, snapshot: Snapshot): Promise<Beginning | undefined> {
  if (snapshot.version !== snapshotVersion || snapshot.seq < 1) return undefined;
  const records = await log.read(snapshot.seq - 1);
  if (records[0]?.seq !== snapshot.seq || records[0].digest !== snapshot.digest) return undefined;
  const state = stateOf(snapshot.body);
  if (state === undefined) return undefined;
  return { state, head: { seq: snapshot.seq, digest: snapshot.digest }, tail: records.slice(1) };
}

function stateOf(body: string): AgentState | undefined {
  try {
    const parsed = parseState(JSON.parse(body));
    return parsed.ok ? parsed.state : undefined;
  } catch {
    return undefined;
  }
}

function folded(
  header: SessionHeader,
  state: AgentState,
  start: ChainHead,
  records: readonly LogRecord[],
): Restored {
  const replay = beginReplay(state);
  let head = start;
  for (const record of records) {
    try {
      replay.apply(recordToInput(record));
    } catch (error) {
      if (error instanceof SessionError) return { header, state: replay.state(), head, unreadable: error };
      throw error;
    }
    head = record;
  }
  return { header, state: replay.state(), head: { seq: head.seq, digest: head.digest } };
}
