import { effectsAt, type AgentEffect, type AgentState, type AgentUsage, type Question } from "@moora/agent";
import { questionsAt } from "@moora/agent/internal";
import {
  agentTransition,
  controlEdges,
  controlName,
  isLoopRunning,
  type ControlEdge,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import { spentLimitsAt, type SpentLimit } from "@moora/agent-core-state-machine/internal";
import { conversationAt, type Conversation } from "./conversation.ts";
import { marksIn, type Mark } from "./marks.ts";
import { requestViewAt, type RequestView } from "./request-view.ts";
import type { HistoryStep, SessionHistory } from "./session-history.ts";

/** Everything that is shown of one position, except what is read on demand. */
export interface PositionView {
  readonly seq: number;
  readonly control: string;
  /** The edges that this record took. */
  readonly moves: readonly ControlMove[];
  readonly graph: { readonly states: readonly string[]; readonly edges: readonly ControlEdge[] };
  readonly loop: number;
  readonly step: number;
  readonly stepLimit: number;
  readonly conversation: Conversation;
  readonly request: RequestView | undefined;
  readonly effects: readonly AgentEffect[];
  readonly questions: readonly Question[];
  readonly data: { readonly version: number; readonly json: string; readonly isChanged: boolean } | undefined;
  /** `limits`: those of the budget, with what is spent of each. `warnAt`: the part of a limit at which the model is warned. */
  readonly usage: {
    readonly session: AgentUsage;
    readonly loop: AgentUsage;
    readonly limits: readonly SpentLimit[];
    readonly warnAt: number | undefined;
  };
  readonly isRunning: boolean;
  /** Absent or null unless the session is paused. */
  readonly paused?: AgentState["paused"];
  /** Whether a retry of the loop would apply. */
  readonly canRetry: boolean;
  readonly record: RecordView | undefined;
}

/** The record of a position. `body` is JSON with indentation. */
export interface RecordView {
  readonly type: string;
  readonly timestamp: number;
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly body: string;
  readonly digest: string | undefined;
  readonly changesDigest: string | undefined;
  /** The changes of the state by this record, as JSON with indentation. */
  readonly changes: string;
}

/** The entries of the conversation that are shown at first. */
export const firstEntries = 60;

/** The longest JSON text that is shown as a whole. */
const maxJson = 60_000;

/** The position after the first `seq` records. `entries` is how many entries of the conversation are shown. */
export function positionViewAt(
  history: SessionHistory,
  seq: number,
  entries: number = firstEntries,
): PositionView {
  const step = history.stepAt(seq);
  const { state, moves } = step;
  const { control, loop, step: loopStep, stepLimit } = state.reActContext;
  return {
    seq,
    control: controlName(control),
    moves,
    graph: graphAt(state),
    loop,
    step: loopStep,
    stepLimit,
    conversation: conversationAt(state, entries),
    request: requestViewAt(history, seq),
    effects: Object.values(effectsAt(state)),
    questions: questionsAt(state),
    data: dataAfter(step),
    usage: usageAt(state),
    isRunning: isLoopRunning(state),
    ...(state.paused === undefined ? {} : { paused: state.paused }),
    canRetry: agentTransition({ type: "loop-retried", timestamp: 0 })(state) !== state,
    record: recordViewAt(history, seq, step),
  };
}

function graphAt({ config }: AgentState): PositionView["graph"] {
  const edges = controlEdges(config.graph);
  return { states: [...new Set(edges.flatMap(({ from, to }) => [from, to]))], edges };
}

/** The application data after a step; undefined for a session without data. */
function dataAfter({ state: { data, dataStatus }, before }: HistoryStep): PositionView["data"] {
  if (dataStatus === null) return undefined;
  return { version: dataStatus.version, json: shownJson(data), isChanged: before.data !== data };
}

const usageAt = (state: AgentState): PositionView["usage"] => ({
  session: state.usage,
  loop: state.reActContext.usage,
  limits: spentLimitsAt(state, 0),
  warnAt: state.config.budget.warnAt,
});

function recordViewAt(
  { records, rows }: SessionHistory,
  seq: number,
  { changes }: HistoryStep,
): RecordView | undefined {
  const record = records[seq - 1];
  const row = rows[seq - 1];
  if (record === undefined || row === undefined) return undefined;
  return {
    type: row.type,
    timestamp: row.timestamp,
    text: row.text,
    marks: marksIn(row.marks),
    body: shownJson(JSON.parse(record.body)),
    digest: record.digest,
    changesDigest: record.changesDigest,
    changes: shownJson(changes),
  };
}

function shownJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.length <= maxJson
    ? text
    : `${text.slice(0, maxJson).toWellFormed()}\n… (${text.length} characters)`;
}
