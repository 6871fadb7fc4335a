import { beginReplay, stateVersion, type AgentState } from "@moora/agent-core-state-machine";
import { chainStart, type ChainHead, type LogRecord, type SessionLog, type Snapshot } from "@moora/event-log";
import { textToJson } from "@moora/llm";
import { SessionError } from "./session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "./session-header.ts";
import { recordToInput } from "./session-record.ts";

/** A session as its log tells it. */
export interface Restored {
  readonly header: SessionHeader;
  readonly state: AgentState;
  readonly head: ChainHead;
  /** Set when a newer release wrote on: the state is the one before its first record, and nothing may be appended. */
  readonly unreadable: SessionError | undefined;
  /** The record that the snapshot stands for which the fold began with; 0 where it began at the beginning. */
  readonly snapshotSeq: number;
  /** Whether there was a snapshot that could not be used. */
  readonly snapshotIgnored: boolean;
}

/** What a snapshot was made by: another version of the state's form is not read. */
export const snapshotVersion: string = `state-${stateVersion}`;

/** Folds a log, from its snapshot where there is a good one. */
export async function restored(log: SessionLog): Promise<Restored> {
  const header = textToHeader(log.header);
  const snapshot = await log.snapshot();
  const start = headerToState(header);
  const begun = snapshot === undefined ? undefined : await fromSnapshot(log, snapshot, start);
  if (begun !== undefined)
    return { header, ...folded(begun), snapshotSeq: begun.head.seq, snapshotIgnored: false };
  const whole = { state: start, head: chainStart(log.header), tail: await log.read() };
  return { header, ...folded(whole), snapshotSeq: 0, snapshotIgnored: snapshot !== undefined };
}

interface Beginning {
  readonly state: AgentState;
  readonly head: ChainHead;
  readonly tail: readonly LogRecord[];
}

/** A snapshot counts only if its version is ours, its state is one, and the record it stands for is in the log. */
async function fromSnapshot(
  log: SessionLog,
  snapshot: Snapshot,
  start: AgentState,
): Promise<Beginning | undefined> {
  if (snapshot.version !== snapshotVersion || snapshot.seq < 1) return undefined;
  const [record, ...tail] = await log.read(snapshot.seq - 1);
  if (record?.seq !== snapshot.seq || record.digest !== snapshot.digest) return undefined;
  const state = textToJson(snapshot.body);
  if (!isState(state, start)) return undefined;
  return { state, head: { seq: snapshot.seq, digest: snapshot.digest }, tail };
}

/**
 * Whether a snapshot holds a state, as far as its outlines tell. Stores hand out undamaged snapshots only, and this one
 * says that a release with the same form of states wrote it: to look at every call again would cost what it saves.
 */
const isState = (value: unknown, start: AgentState): value is AgentState =>
  hasFieldsOf(value, start) && hasFieldsOf(value.reActContext, start.reActContext);

const hasFieldsOf = <Fields extends object>(
  value: unknown,
  fields: Fields,
): value is Record<keyof Fields, unknown> =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(fields).every((key) => Object.hasOwn(value, key));

function folded({ state, head: start, tail }: Beginning): Pick<Restored, "state" | "head" | "unreadable"> {
  const replay = beginReplay(state);
  let head = start;
  let unreadable: SessionError | undefined;
  for (const record of tail) {
    try {
      replay.apply(recordToInput(record));
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      unreadable = error;
      break;
    }
    head = { seq: record.seq, digest: record.digest };
  }
  return { state: replay.state(), head, unreadable };
}
