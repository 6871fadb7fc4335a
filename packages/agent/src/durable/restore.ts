import { beginReplay, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { stateVersion } from "@moora/agent-core-state-machine/internal";
import {
  chainStart,
  type ChainHead,
  type LogNotice,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import { warn } from "@moora/event-log/store";
import { textToJson } from "@moora/llm/internal";
import { SessionError } from "./session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "./session-header.ts";
import { recordToInput } from "./session-record.ts";

/** A session, folded from its log. */
export interface RestoredSession {
  readonly header: SessionHeader;
  readonly state: AgentState;
  readonly head: ChainHead;
  /** Set when a newer release wrote on: the state is the one before its first record, and nothing may be appended. */
  readonly stoppedBy: SessionError | undefined;
  /** The record of the snapshot with which the fold began; 0 if it began with the first record. */
  readonly snapshotSeq: number;
  /** Whether there was a snapshot that could not be used. */
  readonly snapshotIgnored: boolean;
  /** Whether a new snapshot would save work: whether records that change the session follow the one that was used. */
  readonly hasNews: boolean;
}

/** What a snapshot was made by: another version of the state's form is not read. */
export const snapshotVersion: string = `state-${stateVersion}`;

/** What opening and closing a session append: alone, these records do not cause another snapshot. */
const bookkeeping: ReadonlySet<AgentInput["type"]> = new Set([
  "session-opened",
  "agent-configured",
  "snapshot-taken",
]);

export const isNews = ({ type }: AgentInput): boolean => !bookkeeping.has(type);

/**
 * Folds a log, from its snapshot where there is a good one. A snapshot that the log does not confirm is reported as
 * `damaged-snapshot`; one of another release is ignored without a word.
 */
export async function restoreSession(
  log: SessionLog,
  onNotice: (notice: LogNotice) => void = warn,
): Promise<RestoredSession> {
  const header = textToHeader(log.header);
  const snapshot = await log.snapshot();
  const start = headerToState(header);
  const begun = snapshot?.version === snapshotVersion ? await fromSnapshot(log, snapshot, start) : undefined;
  if (begun !== undefined)
    return { header, ...folded(begun), snapshotSeq: begun.head.seq, snapshotIgnored: false };
  if (snapshot?.version === snapshotVersion) {
    const { seq: afterSeq, body } = snapshot;
    onNotice({ type: "damaged-snapshot", id: log.id, afterSeq, droppedBytes: body.length });
  }
  const whole = { state: start, head: chainStart(log.header), tail: await log.read() };
  return { header, ...folded(whole), snapshotSeq: 0, snapshotIgnored: snapshot !== undefined };
}

interface Beginning {
  readonly state: AgentState;
  readonly head: ChainHead;
  readonly tail: readonly LogRecord[];
}

/**
 * A snapshot counts only if the record that it was taken after is in the log, a later record confirms it, and its state is one.
 */
async function fromSnapshot(
  log: SessionLog,
  snapshot: Snapshot,
  start: AgentState,
): Promise<Beginning | undefined> {
  if (snapshot.seq < 1) return undefined;
  const [record, ...tail] = await log.read(snapshot.seq - 1);
  if (record?.seq !== snapshot.seq || record.digest !== snapshot.digest) return undefined;
  if (!isConfirmed(snapshot, tail)) return undefined;
  const state = textToJson(snapshot.body);
  if (!isState(state, start)) return undefined;
  return { state, head: { seq: snapshot.seq, digest: snapshot.digest }, tail };
}

/**
 * Whether the owner of the session took this snapshot: a later `snapshot-taken` record names its position and the digest of
 * its body. That record is part of the chain, so it cannot be added for a forged snapshot.
 */
export const isConfirmed = (
  { seq, bodyDigest }: Pick<Snapshot, "seq" | "bodyDigest">,
  tail: readonly LogRecord[],
): boolean =>
  tail.some((record) => {
    if (record.seq <= seq || !record.body.includes("snapshot-taken")) return false;
    const input = readableInput(record);
    return input?.type === "snapshot-taken" && input.seq === seq && input.digest === bodyDigest;
  });

/** Undefined for a record of a newer release. */
function readableInput(record: LogRecord): AgentInput | undefined {
  try {
    return recordToInput(record);
  } catch (error) {
    if (error instanceof SessionError) return undefined;
    throw error;
  }
}

/**
 * Whether a snapshot holds a state, as far as its outline shows. Its owner confirmed it, and this one says that a release
 * with the same form of states wrote it: to look at every call again would cost what it saves.
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

function folded({
  state,
  head: start,
  tail,
}: Beginning): Pick<RestoredSession, "state" | "head" | "stoppedBy" | "hasNews"> {
  const replay = beginReplay(state);
  let head = start;
  let hasNews = false;
  let stoppedBy: SessionError | undefined;
  for (const record of tail) {
    try {
      const input = recordToInput(record);
      hasNews ||= isNews(input);
      replay.apply(input);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      stoppedBy = error;
      break;
    }
    head = { seq: record.seq, digest: record.digest };
  }
  return { state: replay.state(), head, stoppedBy, hasNews };
}
