import {
  agentToolSessionId,
  agentTransition,
  identityOf,
  initialStateOf,
  readSession,
  type AgentState,
  type EventLog,
} from "@moora/agent";
import { inputsIn } from "@moora/agent-core-state-machine";
import { recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import type { Attributes, SpanContext } from "@opentelemetry/api";
import { captureForm, checkArgument, exporterForm, spanContextForm } from "./check-options.ts";
import {
  checkOptions,
  isObject,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import type { Capture } from "./content.ts";
import { spanContextAt, type TraceSource } from "./ids.ts";
import { SpanProjection } from "./projection.ts";
import { toResource, type SessionSpan, type SpanResource } from "./session-span.ts";
import { exporterSink, type SpanExporterLike } from "./sink.ts";

/** The options of `readSpans` and `exportSpans`. */
export interface ReadOptions {
  /** Default: the name of the agent in the log. */
  readonly agentName?: string;
  /** The span that all loops of the session belong to. Default: each loop is a trace of its own, linked to the one before. */
  readonly parent?: SpanContext;
  /** The resource of the spans, or its attributes. Default: `{ "service.name": "unknown_service" }`. */
  readonly resource?: SpanResource | Attributes;
  /** Default: false, spans contain nothing that was said. */
  readonly capture?: Capture;
  /** `gen_ai.provider.name` until an answer of the model names the provider. */
  readonly provider?: string;
  /** Whether spans that have not ended are part of the result; they end with the last record. Default: false. */
  readonly unfinished?: boolean;
  /** The log of the sessions of sub-agents; null leaves them out. Default: the same log. */
  readonly subAgents?: EventLog | null;
}

/**
 * Reads the spans of a stored session, and of its sub-agents, in the order in which they ended. Computed from the log alone: the
 * ids are those of live telemetry, each time the same. Rejects with what `readSession` rejects with, and with `BuildError` for
 * an invalid option.
 */
export function readSpans(
  log: EventLog,
  id: string,
  options: ReadOptions = {},
): AsyncGenerator<SessionSpan, void, undefined> {
  checkOptions("readSpans", options, readForms);
  return spansOf(log, id, { ...options, resource: toResource(options.resource) });
}

/** The most spans of one call of an exporter. */
const batchSize = 512;

/**
 * Exports the spans of a stored session, as `readSpans` reads them. Resolves with their number. Rejects with the error of the
 * exporter; spans of earlier batches are exported then, and exporting again gives the same ids. Rejects with `BuildError` for an
 * invalid option.
 */
export async function exportSpans(
  log: EventLog,
  id: string,
  exporter: SpanExporterLike,
  options: ReadOptions = {},
): Promise<number> {
  checkArgument("exportSpans", exporter, exporterForm);
  checkOptions("exportSpans", options, readForms);
  const sink = exporterSink(exporter);
  let count = 0;
  let batch: SessionSpan[] = [];
  const send = async (): Promise<void> => {
    if (batch.length > 0) await sink.send(batch);
    count += batch.length;
    batch = [];
  };
  for await (const span of readSpans(log, id, options)) {
    batch.push(span);
    if (batch.length === batchSize) await send();
  }
  await send();
  await sink.flush();
  return count;
}

interface Reading extends Omit<ReadOptions, "resource"> {
  readonly resource: SpanResource;
}

/** A tool call that may have run a sub-agent: the id of the session, and the span of its last attempt. */
type SubAgentCalls = Map<string, SpanContext>;

async function* spansOf(
  log: EventLog,
  id: string,
  options: Reading,
): AsyncGenerator<SessionSpan, void, undefined> {
  const { header, inputs } = await readSession(log, id);
  const { subAgents = log, parent, unfinished = false } = options;
  const identity = identityOf(id, header);
  const agentName = options.agentName ?? header.agent.name;
  const { resource, capture, provider } = options;
  let state = initialStateOf(header);
  const about = { identity, sessionId: id, agentName, parent, resource, capture, provider };
  const projection = new SpanProjection(state, about);
  const calls: SubAgentCalls = new Map();
  for (const [index, input] of inputs.entries()) {
    state = agentTransition(input)(state);
    for (const { span } of projection.apply(input, state, index + 1)) yield span;
    for (const part of inputsIn(input))
      if (part.type === "tool-call-started") noteSubAgent(calls, state, part, { identity, parent });
  }
  if (unfinished) for (const { span } of projection.endAll(inputs.length)) yield span;
  if (subAgents === null) return;
  const { agentName: _, ...inherited } = options;
  for (const [session, span] of calls) {
    if ((await subAgents.open(session)) !== undefined)
      yield* spansOf(subAgents, session, { ...inherited, parent: span });
  }
}

function noteSubAgent(
  calls: SubAgentCalls,
  state: AgentState,
  { toolCallId, attempt }: { readonly toolCallId: string; readonly attempt: number },
  source: TraceSource,
): void {
  const name = recordOf(state, toolCallId)?.name ?? "";
  // Only tools that call models run sub-agents.
  if (toolOf(state, name)?.spends === undefined) return;
  const session = agentToolSessionId(name, { idempotencyKey: `${source.identity}/${toolCallId}` });
  calls.set(session, spanContextAt(source, state.reActContext.loop, `tool/${toolCallId}/${attempt}`));
}

const logOrNull: OptionForm = {
  expectation: "an event log or null",
  fits: (value) => value === null || (isObject(value) && typeof value["open"] === "function"),
};

const readForms: OptionForms<ReadOptions> = {
  agentName: "string",
  parent: spanContextForm,
  resource: "object",
  capture: captureForm,
  provider: "string",
  unfinished: "boolean",
  subAgents: logOrNull,
};
