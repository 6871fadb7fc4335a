import type { AgentInput, ControlMove } from "@moora/agent";
import {
  beginReplay,
  initialAgentState,
  type AgentState,
  type InputOf,
  type InputType,
} from "@moora/agent-core-state-machine";
import { oneLine, summaryOf } from "../one-line.ts";

/** One record of a session, told. */
export interface TimelineRow {
  readonly seq: number;
  /** When, in milliseconds since 1970, by the clock of who wrote it. */
  readonly timestamp: number;
  /** The control state that it led to, and the edges that were walked. */
  readonly state: string;
  readonly moves: readonly ControlMove[];
  readonly says: string;
  readonly input: AgentInput;
}

/** What a reader of the timeline knows from earlier records: the names of calls. */
type CallNames = ReadonlyMap<string, string>;

type Saying<Type extends InputType> = (input: InputOf<Type>, callOf: (id: string) => string) => string;

/** What each kind of record says to people: one row each. */
const sayings: { readonly [Type in InputType]: Saying<Type> } = {
  "user-message-received": ({ content }) => `user: ${oneLine(content)}`,
  "llm-call-started": ({ key }) => `model called, ${key}`,
  "llm-message-started": () => "model begins to write",
  "llm-message-completed": ({ content }) => `model: ${oneLine(content)}`,
  "llm-chunk-received": ({ text }) => `model: ${oneLine(text)}`,
  "re-act-observed": observed,
  "llm-call-failed": ({ failure }) => `model failed, ${failure.kind}: ${oneLine(failure.message)}`,
  "history-reflected": ({ summary }) => `summed up: ${oneLine(summary)}`,
  "tool-call-started": ({ toolCallId, attempt }, callOf) =>
    `${callOf(toolCallId)} started${attempt > 1 ? `, attempt ${attempt}` : ""}`,
  "tool-call-completed": ({ toolCallId, result }, callOf) =>
    `${callOf(toolCallId)} ${result.isSuccess ? `gave ${summaryOf(result.content)}` : `failed: ${oneLine(result.error)}`}`,
  "tool-call-interrupted": ({ toolCallId, outcome }, callOf) =>
    `${callOf(toolCallId)} was broken off, ${outcome === "unknown" ? "outcome unknown" : "not run"}`,
  "tool-call-decided": ({ toolCallId, by, decision, reason }, callOf) =>
    `${callOf(toolCallId)} ${decision.type} by ${by}${reason === undefined || reason === "" ? "" : `: ${oneLine(reason)}`}`,
  "deadline-passed": ({ key }) => `time is up, ${key}`,
  "re-act-cancelled": ({ reason }) => `cancelled${reason === undefined ? "" : `: ${oneLine(reason)}`}`,
  "session-opened": ({ owner }) => `taken up by ${owner}`,
  "agent-configured": ({ config, tools }) =>
    `configured: ${[...(config === undefined ? [] : ["settings"]), ...(tools === undefined ? [] : ["tools"])].join(" and ")}`,
  "state-handled": ({ event }) => `state handled, ${event}`,
  "context-window-expanded": () => "window widened",
  "history-tool-calls-added": ({ toolCallIds }) => `earlier calls shown: ${toolCallIds.join(", ")}`,
  "context-note-added": ({ text }) => `note: ${oneLine(text)}`,
  "state-handler-started": ({ key }) => `handler ${key} started`,
  "usage-reported": ({ key }) => `usage of ${key}`,
  "snapshot-taken": ({ seq }) => `snapshot of record ${seq}`,
};

function observed({ observation, turn }: InputOf<"re-act-observed">): string {
  if (observation.type === "continue-re-act") {
    const calls = Object.entries(observation.toolCalls);
    const asked = calls.map(([id, { name, parameters }]) => `${id} ${name} ${oneLine(parameters)}`);
    return asked.length === 0 ? "model goes on" : `model asks for ${asked.join("; ")}`;
  }
  const texts = (turn?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === 0 ? "model has answered" : `model: ${oneLine(texts.join(" "))}`;
}

const saidBy = <Type extends InputType>(input: InputOf<Type> & { readonly type: Type }, names: CallNames) => {
  const saying: Saying<Type> = sayings[input.type];
  return saying(input, (id) => `${id} ${names.get(id) ?? ""}`.trim());
};

/** Tells a session record by record, from its first one on. */
export function timelineOf({
  config,
  tools,
}: Pick<AgentState, "config" | "tools">): (seq: number, input: AgentInput) => TimelineRow {
  const replay = beginReplay(initialAgentState({ config, tools }));
  const names = new Map<string, string>();
  let state = "Idle";
  return (seq, input) => {
    const moves = replay.apply(input)?.moves ?? [];
    state = moves.at(-1)?.to ?? state;
    if (input.type === "re-act-observed" && input.observation.type === "continue-re-act")
      for (const [id, { name }] of Object.entries(input.observation.toolCalls)) names.set(id, name);
    return { seq, timestamp: input.timestamp, state, moves, says: saidBy(input, names), input };
  };
}

/** A row as a line of text. Times are UTC. */
export const rowToText = ({ seq, timestamp, state, moves, says }: TimelineRow): string => {
  const walked = moves.length === 0 ? "" : `  [${moves.map(({ event }) => event).join(", ")}]`;
  return `${String(seq).padStart(5)}  ${timeToText(timestamp)}  ${state.padEnd(15)}  ${says}${walked}`;
};

/** The same for programs. */
export const rowToJson = ({ seq, timestamp, state, moves, input }: TimelineRow): object => ({
  seq,
  timestamp,
  state,
  moves,
  input,
});

export const timeToText = (timestamp: number): string => {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? String(timestamp) : time.toISOString().replace("T", " ");
};
