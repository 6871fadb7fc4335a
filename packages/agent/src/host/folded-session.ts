import type { DispatchedInput } from "@moora/agent-core-effects";
import { beginReplay, rulesVersion, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { frozen, stateVersion } from "@moora/agent-core-state-machine/internal";
import { chainStart, checkedChain, type ChainHead, type LogRecord } from "@moora/event-log";
import type { Agent } from "../define-agent.ts";
import { dataInputs } from "../data-inputs.ts";
import { isSameJson } from "../durable/canonical-json.ts";
import { stepsToRecords } from "../durable/appends.ts";
import { foldInputs, hasApplied } from "../durable/fold-inputs.ts";
import { inTurns } from "../durable/in-turns.ts";
import { headerOf, headerToState, headerToText, textToHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";
import { joinedTeam, memberAt } from "../team/member-at.ts";

/**
 * A session as a host keeps it between inputs: its state, and the sequence number and digest of its last record. Plain JSON: one that
 * was stored and read again continues with the same records.
 */
export interface FoldedSession {
  readonly state: AgentState;
  readonly head: ChainHead;
  /** The `rulesVersion` by which the state was folded; undefined in one that an earlier release stored. Fold a state of other rules again, from its header. */
  readonly rules: number | undefined;
}

/** Whether the state of a session is one that this release would fold. Another one is folded again from its header. */
export const isFoldedHere = ({ state, rules }: FoldedSession): boolean =>
  state.version === stateVersion && rules === rulesVersion;

/** A session after inputs. `records` are those of the inputs that changed it, for the log of the host. */
export interface RecordedInputs extends FoldedSession {
  readonly records: readonly LogRecord[];
}

/**
 * The header of a new session of an agent, as JSON text, for a host that keeps records itself. `incarnation` is random, so that a
 * session with the id of a removed one is another one. `user` is the user to whom it belongs.
 */
export const newSessionHeader = (agent: Agent<unknown>, incarnation: string, user?: string): string =>
  headerToText(headerOf(agent, incarnation, user === undefined ? {} : { user }));

/** The session before its first record. Throws `SessionError` for a header of a newer release. */
export const foldHeader = (header: string): FoldedSession => ({
  state: headerToState(textToHeader(header)),
  head: chainStart(header),
  rules: rulesVersion,
});

/**
 * Applies inputs in order, and makes the records of those that change the session. A late-bound input is computed for the state
 * before it. Pure: append the records, and dispatch nothing else until they are durable.
 */
export function recordInputs(session: FoldedSession, inputs: readonly DispatchedInput[]): RecordedInputs {
  const steps = foldInputs(frozen(session.state), inputs, (input) => input);
  const records = stepsToRecords(session.head, steps.filter(hasApplied));
  const { seq, digest } = records.at(-1) ?? session.head;
  const { state } = steps.at(-1)?.after ?? session;
  return { state, head: { seq, digest }, rules: rulesVersion, records };
}

/**
 * Folds records that another process has made, in turns of the event loop. Rejects with `LogCorrupt` for records that do not continue the
 * session, and with `UnsupportedVersion` for one of a newer release.
 */
export async function foldRecords(
  session: FoldedSession,
  records: readonly LogRecord[],
): Promise<FoldedSession> {
  const replay = beginReplay(frozen(session.state));
  let { head } = session;
  await inTurns(records, (record) => {
    checkedChain(head, [record]);
    replay.apply(recordToInput(record));
    head = { seq: record.seq, digest: record.digest };
  });
  return { state: replay.state(), head, rules: rulesVersion };
}

/**
 * The inputs that bring a session to this release of its agent: its configuration, its tools and the version of its data, as far as
 * they differ. Unlike an opening, they interrupt no work. Throws `DataRefused` for data that the agent cannot use.
 */
export function releaseInputs(
  agent: Agent<unknown>,
  state: AgentState,
  timestamp: number,
): readonly AgentInput[] {
  const member = memberAt(agent, state);
  const data = dataInputs(agent, state, timestamp);
  if (member === undefined) return data;
  const { config, tools } = member;
  const joined = joinedTeam(agent, state);
  const isSame =
    joined.activeAgent === undefined && isSameJson(state.config, config) && isSameJson(state.tools, tools);
  if (isSame) return data;
  return [{ type: "agent-configured", config, tools, ...joined, timestamp }, ...data];
}
