import {
  beginReplay,
  loopRuns,
  openCallOf,
  openCallsOf,
  type AgentInput,
  type AgentState,
  type OpenCall,
  type Replay,
} from "@moora/agent-core-state-machine";
import { chainStart, type ChainHead, type EventLog, type LogRecord } from "@moora/event-log";
import { headerToState, headerToText } from "../durable/session-header.ts";
import { inputToRecord } from "../durable/session-record.ts";
import { readSession } from "./read-session.ts";

/**
 * What becomes of work that was under way at the position: `reuse` what the original log says came of it, `rerun` it as
 * if it had not begun, or `close` it as not run.
 */
export type OpenWork = "reuse" | "rerun" | "close";

export interface ForkOptions {
  /** The id of the new session. */
  readonly as: string;
  /** Where the new session goes; default: the same log. */
  readonly to?: EventLog;
  readonly open: OpenWork;
  /** Changes an input on its way into the new session, or leaves it out with null. */
  readonly edit?: (input: AgentInput, seq: number) => AgentInput | null;
}

export interface Forked {
  readonly id: string;
  /** Records of the new session. */
  readonly seq: number;
  /** Inputs that an edit made inapplicable: they are not in the new session. */
  readonly dropped: number;
  readonly state: AgentState;
}

/** Starts a new session from any position of another one, also from within a batch of tool calls. */
export async function forkSession(
  log: EventLog,
  id: string,
  seq: number,
  options: ForkOptions,
): Promise<Forked> {
  const { header, inputs } = await readSession(log, id);
  const { as, to = log, open, edit = (input) => input } = options;
  const newHeader = headerToText({ ...header, parent: { id, seq } });
  const copy = new Copy(beginReplay(headerToState(header), { changes: true }), chainStart(newHeader));
  inputs.slice(0, seq).forEach((input, index) => {
    const edited = edit(input, index + 1);
    if (edited !== null) copy.add(edited);
  });
  const later = inputs.slice(seq);
  for (const input of closing(copy.state(), open, later)) copy.add(input);
  const session = await to.create(as, newHeader);
  await session.append(0, copy.records);
  return { id: as, seq: copy.records.length, dropped: copy.dropped, state: copy.state() };
}

/** Records in the making, each chained to the one before. */
class Copy {
  readonly records: LogRecord[] = [];
  dropped = 0;
  private readonly replay: Replay;
  private head: ChainHead;

  constructor(replay: Replay, head: ChainHead) {
    this.replay = replay;
    this.head = head;
  }

  state(): AgentState {
    return this.replay.state();
  }

  add(input: AgentInput): void {
    const step = this.replay.apply(input);
    if (step === undefined) {
      this.dropped += 1;
      return;
    }
    const record = inputToRecord(this.head, input, step.changes);
    this.records.push(record);
    this.head = record;
  }
}

/** The inputs that settle what was under way, in the way that was asked for. */
function closing(state: AgentState, open: OpenWork, later: readonly AgentInput[]): readonly AgentInput[] {
  if (!loopRuns(state)) return [];
  if (open === "reuse") return reused(state, later);
  const timestamp = state.updatedAt;
  const calls = openCallsOf(state.reActContext.control);
  if (open === "rerun") return calls.flatMap((call) => rerun(call, timestamp));
  if (calls.length === 0) return [{ type: "re-act-cancelled", reason: "Forked here.", timestamp }];
  return calls.map((call) => closed(call, timestamp));
}

const notRun = "Not run: the conversation was forked here.";

function closed({ id, status }: OpenCall, timestamp: number): AgentInput {
  if (status.type === "asking")
    return {
      type: "tool-call-decided",
      toolCallId: id,
      digest: status.digest,
      by: "fork",
      reason: notRun,
      decision: { type: "rejected" },
      timestamp,
    };
  const result = { isSuccess: false, error: notRun, receivedAt: timestamp, code: "not-run" } as const;
  return { type: "tool-call-completed", toolCallId: id, result, timestamp };
}

function rerun({ id, attempt, status }: OpenCall, timestamp: number): readonly AgentInput[] {
  const begun = status.type === "probing" || (status.type === "running" && status.started);
  return begun
    ? [{ type: "tool-call-interrupted", toolCallId: id, attempt, outcome: "not-run", timestamp }]
    : [];
}

/** What the original log says of the work that is open here: of its calls, or of its one model call. */
function reused(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  const { control } = state.reActContext;
  const calls = openCallsOf(control);
  if (calls.length > 0)
    return later.filter(
      (input) => "toolCallId" in input && openCallOf(control, input.toolCallId) !== undefined,
    );
  const end = later.findIndex((input) => endsLlmCall.has(input.type));
  return later.slice(0, end + 1).filter((input) => ofLlmCall.has(input.type));
}

const endsLlmCall: ReadonlySet<string> = new Set(["re-act-observed", "history-reflected"]);
const ofLlmCall: ReadonlySet<string> = new Set([
  ...endsLlmCall,
  "llm-call-started",
  "llm-call-failed",
  "llm-message-started",
  "llm-message-completed",
  "deadline-passed",
]);
