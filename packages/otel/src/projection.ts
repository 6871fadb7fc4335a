import { SpanKind, type Attributes, type Link } from "@opentelemetry/api";
import { isLoopRunning, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { Content, type Capture } from "./content.ts";
import { rootContextAt, spanContextAt, type TraceSource } from "./ids.ts";
import {
  attribute,
  endedEarly,
  operation,
  sessionOpenedEvent,
  traceNoteEvent,
  type Operation,
} from "./names.ts";
import { chatName, startOf, toolAttributes, type OpenSpan } from "./open-span.ts";
import {
  createSpan,
  type SessionSpan,
  type SpanEvent,
  type SpanFields,
  type SpanResource,
} from "./session-span.ts";
import { msToHrTime } from "./time.ts";
import { answerEnd, endOf, totalAttributes, type WorkEnd } from "./work-end.ts";
import { untriedCallsOf, workAt } from "./work.ts";

/** What the spans of a session are computed from, besides its inputs. */
export interface ProjectionOptions extends TraceSource {
  readonly sessionId: string;
  readonly agentName: string;
  /** The name of the provider, until an answer of the model names it. */
  readonly provider?: string | undefined;
  readonly resource: SpanResource;
  readonly capture?: Capture | undefined;
}

/** A span that has ended. */
export interface EndedSpan {
  readonly span: SessionSpan;
  readonly operation: Operation;
  /** The sequence number of the input that ended it. */
  readonly seq: number;
  readonly durationMs: number;
  /** Whether a crash or a restart ended it, so that its duration is not that of the work. */
  readonly isInterrupted: boolean;
  /** Whether it is a tool call that was refused, so that no tool has run. */
  readonly isRefused: boolean;
}

/** The root span of the running loop. */
interface OpenRoot {
  readonly loop: number;
  readonly startedAt: number;
  readonly events: SpanEvent[];
  droppedEvents: number;
}

/** The most events of a root span; more are counted as dropped. */
const maxEvents = 128;

/** What ends one span: the input, its sequence number, and the states before and after it. */
interface Change {
  readonly input: AgentInput;
  readonly seq: number;
  readonly before: AgentState;
  readonly after: AgentState;
}

/**
 * The spans of a session, computed from its inputs and states: a span starts when its work is under way in a state, and ends
 * with the input after which it is not. Holds the spans that have not ended, and nothing else of the session.
 */
export class SpanProjection {
  readonly #options: ProjectionOptions;
  readonly #content: Content;
  readonly #open = new Map<string, OpenSpan>();
  #state: AgentState;
  #root: OpenRoot | undefined;
  #provider: string | undefined;
  #ended: EndedSpan[] = [];

  /**
   * Begins with a state, whose inputs before it are unknown: work that is under way in it starts at the time of its last
   * change.
   */
  constructor(state: AgentState, options: ProjectionOptions) {
    this.#options = options;
    this.#content = new Content(options.capture);
    this.#provider = options.provider;
    this.#state = state;
    if (!isLoopRunning(state)) return;
    this.#openRoot(state, state.reActContext.startedAt);
    this.#openNew(state, state.updatedAt);
  }

  /** Applies an input, with the state after it. Returns the spans that it ended. */
  apply(input: AgentInput, after: AgentState, seq: number): readonly EndedSpan[] {
    const change: Change = { input, seq, before: this.#state, after };
    this.#state = after;
    this.#ended = [];
    if (input.type === "session-opened") this.#addOpening(input.owner, input.timestamp);
    const { reActContext: was } = change.before;
    const { reActContext: is } = after;
    if (was.control !== is.control || was.loop !== is.loop) this.#changed(change);
    return this.#ended;
  }

  /** Ends the spans that are open, as unfinished, at the time of the last change. */
  endAll(seq: number): readonly EndedSpan[] {
    this.#ended = [];
    const state = this.#state;
    const end: WorkEnd = { attributes: { [attribute.unfinished]: true } };
    for (const span of this.#open.values()) this.#end(span, end, state.updatedAt, seq);
    this.#open.clear();
    if (this.#root !== undefined)
      this.#endRoot(this.#root, { ...rootEnd(state), ...end }, state.updatedAt, seq);
    return this.#ended;
  }

  #changed(change: Change): void {
    const { input, seq, before, after } = change;
    const work = workAt(after);
    this.#endAnswerWithoutIntent(change);
    for (const [key, span] of this.#open) {
      if (work.has(key)) continue;
      this.#open.delete(key);
      const end = endOf(span.work, key, input, { state: after, content: this.#content });
      this.#end(span, end, input.timestamp, seq);
    }
    this.#endRefused(change);
    const { loop } = after.reActContext;
    const root = this.#root;
    if (root !== undefined && (root.loop !== loop || !isLoopRunning(after))) {
      const end = root.loop === loop ? rootEnd(after) : cancelledRoot(before);
      this.#endRoot(root, end, input.timestamp, seq);
    }
    if (loop !== before.reActContext.loop) {
      const opened = this.#openRoot(after, input.timestamp);
      if (!isLoopRunning(after)) this.#endRoot(opened, rootEnd(after), input.timestamp, seq);
    }
    this.#openNew(after, input.timestamp, work);
  }

  #openRoot({ reActContext: { loop } }: AgentState, startedAt: number): OpenRoot {
    const root: OpenRoot = { loop, startedAt, events: [], droppedEvents: 0 };
    this.#root = root;
    return root;
  }

  #openNew(state: AgentState, startedAt: number, work = workAt(state)): void {
    const { loop } = state.reActContext;
    for (const [key, item] of work) {
      if (this.#open.has(key)) continue;
      const context = spanContextAt(this.#options, loop, key);
      this.#open.set(key, { work: item, context, startedAt, ...startOf(item, state, this.#content) });
    }
  }

  /** An answer whose call was never recorded as started: its span starts when the model was called. */
  #endAnswerWithoutIntent({ input, seq, before }: Change): void {
    if (input.type !== "re-act-observed") return;
    if ([...this.#open.values()].some(({ work }) => work.type === "model-call")) return;
    const { control, loop } = before.reActContext;
    if (control.type !== "Planning") return;
    const work = { type: "model-call", purpose: "plan", attempt: control.attempt } as const;
    const key = input.key ?? `plan/${loop}/${before.reActContext.step}/${control.attempt}`;
    const context = spanContextAt(this.#options, loop, key);
    const span = { work, context, startedAt: input.calledLlmAt, ...startOf(work, before, this.#content) };
    this.#end(span, answerEnd(input, this.#content), input.timestamp, seq);
  }

  /** Calls that failed without an attempt, such as those of an unknown tool: each has a span without a duration. */
  #endRefused({ input, seq, before, after }: Change): void {
    const ids = untriedCallsOf(before).map(({ id }) => id);
    if (input.type === "re-act-observed" && input.observation.type === "continue-re-act")
      ids.push(...Object.keys(input.observation.toolCalls));
    for (const id of ids) {
      const record = recordOf(after, id);
      if (record === undefined || record.result === null || record.result.isSuccess) continue;
      const span: OpenSpan = {
        work: { type: "tool-call", toolCallId: id, attempt: 0 },
        operation: operation.executeTool,
        name: `${operation.executeTool} ${record.name}`,
        kind: SpanKind.INTERNAL,
        context: spanContextAt(this.#options, before.reActContext.loop, `refused/${id}`),
        startedAt: input.timestamp,
        attributes: { ...toolAttributes(after, id, record.name), ...this.#content.ofArguments(record) },
      };
      const { code, error } = record.result;
      const message = this.#content.isCaptured ? error : undefined;
      const end = { attributes: this.#content.ofResult(record), errorType: code ?? "_OTHER", message };
      this.#end(span, end, input.timestamp, seq);
    }
  }

  #end(open: OpenSpan, end: WorkEnd, endedAt: number, seq: number): void {
    const attributes: Attributes = { ...this.common(), ...open.attributes, ...end.attributes };
    const provider = end.attributes[attribute.provider];
    if (typeof provider === "string") this.#provider = provider;
    const model = attributes[attribute.requestModel];
    const isChat = open.operation === operation.chat;
    const parent = rootContextAt(this.#options, this.#root?.loop ?? this.#state.reActContext.loop);
    const name = isChat && typeof model === "string" ? chatName(model) : open.name;
    const { kind, context, startedAt } = open;
    const events = noteEvents(end, Math.max(startedAt, endedAt));
    const fields = { name, kind, context, parent, startedAt, endedAt, attributes, events };
    this.#add(fields, end, { operation: open.operation, seq, isRefused: isRefused(open) });
  }

  #endRoot(root: OpenRoot, end: WorkEnd, endedAt: number, seq: number): void {
    this.#root = undefined;
    const { loop, startedAt, events, droppedEvents } = root;
    const { agentName, parent } = this.#options;
    const attributes = {
      ...this.common(),
      [attribute.operation]: operation.invokeAgent,
      [attribute.loop]: loop,
      ...end.attributes,
    };
    const links: Link[] = loop > 1 ? [{ context: rootContextAt(this.#options, loop - 1) }] : [];
    const context = rootContextAt(this.#options, loop);
    const name = `${operation.invokeAgent} ${agentName}`;
    const fields = { name, context, parent, startedAt, endedAt, attributes, links, events, droppedEvents };
    this.#add(fields, end, { operation: operation.invokeAgent, seq, isRefused: false });
  }

  #add(
    fields: Omit<SpanFields, "failure">,
    { errorType, message = "" }: WorkEnd,
    about: Pick<EndedSpan, "operation" | "seq" | "isRefused">,
  ): void {
    if (errorType !== undefined) fields.attributes[attribute.errorType] = errorType;
    const failure = errorType === undefined ? undefined : message;
    this.#ended.push({
      ...about,
      span: createSpan({ ...fields, failure }, this.#options.resource),
      durationMs: Math.max(0, fields.endedAt - fields.startedAt),
      isInterrupted: errorType === endedEarly.interrupted,
    });
  }

  /** The attributes that every span of the session has now. */
  common(): Attributes {
    const { sessionId, agentName } = this.#options;
    return {
      [attribute.conversation]: sessionId,
      [attribute.agentName]: agentName,
      ...(this.#provider === undefined ? {} : { [attribute.provider]: this.#provider }),
    };
  }

  #addOpening(owner: string, timestamp: number): void {
    const root = this.#root;
    if (root === undefined) return;
    if (root.events.length === maxEvents) {
      root.droppedEvents += 1;
      return;
    }
    const attributes = { [attribute.owner]: owner };
    root.events.push({ name: sessionOpenedEvent, time: msToHrTime(timestamp), attributes });
  }
}

/** The event of the trace note of a handler, if it has left one. */
const noteEvents = ({ note }: WorkEnd, timestamp: number): SpanEvent[] =>
  note === undefined ? [] : [{ name: traceNoteEvent, time: msToHrTime(timestamp), attributes: note }];

const isRefused = ({ work }: OpenSpan): boolean => work.type === "tool-call" && work.attempt === 0;

/** The end of the loop of a state. */
function rootEnd({ reActContext: { control, usage } }: AgentState): WorkEnd {
  const attributes = totalAttributes(usage);
  if (control.type !== "Error") return { attributes };
  return { attributes, errorType: control.failure.kind, message: control.failure.message };
}

/** The end of a loop that the next one replaced. */
const cancelledRoot = ({ reActContext: { usage } }: AgentState): WorkEnd => ({
  attributes: totalAttributes(usage),
  errorType: "Cancelled",
});
