import { beginReplay, rulesVersion, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { frozen, stateVersion } from "@moora/agent-core-state-machine/internal";
import {
  chainStart,
  LogError,
  type ChainHead,
  type LogNotice,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import { readInTurns, warn } from "@moora/event-log/store";
import { textToJson } from "@moora/llm/internal";
import { inTurns } from "./in-turns.ts";
import { SessionError } from "./session-error.ts";
import { headerToState, textToHeader, type SessionHeader } from "./session-header.ts";
import { recordToInput } from "./session-record.ts";

/** A session that was folded from its log. */
export interface RestoredSession {
  readonly header: SessionHeader;
  readonly state: AgentState;
  readonly head: ChainHead;
  /** Set if a newer release wrote records: the state is the one before the first of them, and nothing may be appended. */
  readonly stoppedBy: SessionError | undefined;
  /** The sequence number of the snapshot from which the fold started; 0 if it started with the first record. */
  readonly snapshotSeq: number;
  /** Whether a snapshot was ignored because it could not be used. */
  readonly snapshotIgnored: boolean;
  /** Whether a new snapshot would save work: records that change the session follow the snapshot that was used. */
  readonly hasNews: boolean;
}

/** The version of snapshots: of the form of the state, and of the rules that led to it. Others are folded again from the records. */
export const snapshotVersion: string = `state-${stateVersion}/rules-${rulesVersion}`;

/** The inputs that opening and closing a session append. They alone do not cause another snapshot. */
const bookkeeping: ReadonlySet<AgentInput["type"]> = new Set([
  "session-opened",
  "agent-configured",
  "snapshot-taken",
]);

export const isNews = ({ type }: AgentInput): boolean => !bookkeeping.has(type);

/**
 * Folds a log, starting from its snapshot if that is valid. A snapshot that the log does not confirm is reported as
 * `damaged-snapshot`; one of another release is ignored without a notice.
 */
export async function restoreSession(
  log: SessionLog,
  onNotice: (notice: LogNotice) => void = warn,
): Promise<RestoredSession> {
  const header = textToHeader(log.header);
  const snapshot = await log.snapshot();
  const start = headerToState(header);
  const fold = snapshot?.version === snapshotVersion ? await fromSnapshot(log, snapshot, start) : undefined;
  if (fold !== undefined)
    return { header, ...(await foldTail(fold)), snapshotSeq: fold.head.seq, snapshotIgnored: false };
  if (snapshot?.version === snapshotVersion) {
    const { seq: afterSeq, body } = snapshot;
    onNotice({ type: "damaged-snapshot", id: log.id, afterSeq, droppedBytes: body.length });
  }
  const whole = { state: start, head: chainStart(log.header), tail: await readInTurns(log) };
  return { header, ...(await foldTail(whole)), snapshotSeq: 0, snapshotIgnored: snapshot !== undefined };
}

interface FoldStart {
  readonly state: AgentState;
  readonly head: ChainHead;
  readonly tail: readonly LogRecord[];
}

/**
 * The fold from a snapshot; undefined unless the log contains the record that it was taken after, a later record confirms
 * it, and its body is a state.
 */
async function fromSnapshot(
  log: SessionLog,
  snapshot: Snapshot,
  start: AgentState,
): Promise<FoldStart | undefined> {
  if (snapshot.seq < 1) return undefined;
  await checkHeader(log);
  const [record, ...tail] = await readInTurns(log, snapshot.seq - 1);
  if (record?.seq !== snapshot.seq || record.digest !== snapshot.digest) return undefined;
  if (!isConfirmed(snapshot, tail)) return undefined;
  const state = textToJson(snapshot.body);
  if (!isState(state, start)) return undefined;
  return { state: frozen(state), head: { seq: snapshot.seq, digest: snapshot.digest }, tail };
}

/** Rejects with `LogCorrupt` where the first record does not confirm the header. Later damage is found by who reads that far. */
async function checkHeader(log: SessionLog): Promise<void> {
  try {
    await log.read(0, 1);
  } catch (error) {
    const isLater = error instanceof LogError && error.code === "LogCorrupt" && (error.seq ?? 0) > 1;
    if (!isLater) throw error;
  }
}

/**
 * Whether the owner of the session took this snapshot: a later `snapshot-taken` record contains its position and the
 * digest of its body. That record is part of the chain, so that a forged snapshot cannot have one.
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
 * Whether a value has the top-level fields of a state. Its owner has confirmed it, and its version shows that a release
 * with the same form of states wrote it; validating every call again would cost what the snapshot saves.
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

async function foldTail({
  state,
  head: start,
  tail,
}: FoldStart): Promise<Pick<RestoredSession, "state" | "head" | "stoppedBy" | "hasNews">> {
  const replay = beginReplay(state);
  let head = start;
  let hasNews = false;
  const stoppedBy = await takeInputs(tail, (input, { seq, digest }) => {
    hasNews ||= isNews(input);
    replay.apply(input);
    head = { seq, digest };
  });
  return { state: replay.state(), head, stoppedBy, hasNews };
}

/** Takes the inputs of records in turns, up to the first one that a newer release wrote. Resolves with the error of that one. */
export async function takeInputs(
  records: readonly LogRecord[],
  take: (input: AgentInput, record: LogRecord) => void,
): Promise<SessionError | undefined> {
  let stoppedBy: SessionError | undefined;
  await inTurns(records, (record) => {
    if (stoppedBy !== undefined) return;
    try {
      take(recordToInput(record), record);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      stoppedBy = error;
    }
  });
  return stoppedBy;
}
