import type { AgentState, PriceList, Spending, ToolQuestionRecord } from "@moora/agent-core-state-machine";
import { budgetLeftAt, recordOf, wording } from "@moora/agent-core-state-machine/internal";
import { textToJson } from "@moora/llm/internal";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import { jsonObjectOf } from "../request/json-object.ts";
import type { Tool } from "../tool/define-tool.ts";
import type { ToolContext } from "../tool/tool-options.ts";
import type { AskedByTool } from "../tool/tool-asks.ts";
import { isAborted, type LazyAbort } from "./abort.ts";
import type { DataUpdates } from "../data/data-updates.ts";
import type { EffectHost } from "./host.ts";

/** The parts of a context that differ from call to call. */
export interface CallDetails {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly approvedBy?: string | undefined;
  readonly budgetLeft: Spending | undefined;
  readonly asked?: AskedByTool | undefined;
}

interface ContextFields extends CallDetails {
  readonly loop: number;
  readonly prices: PriceList;
  /** What the host gives to the session; undefined for a tool that does not need it. */
  readonly given: unknown;
}

/** What belongs to one call of a tool. */
export interface CallScope {
  readonly tool: Tool;
  /** The abort of its timeout. */
  readonly late: LazyAbort;
  /** Its updates of application data; undefined if the tool has none. */
  readonly updates: DataUpdates | undefined;
}

/** The context of a call of the model. */
export function callContext(
  effect: CallToolEffect | ProbeToolEffect,
  state: AgentState,
  host: EffectHost,
  scope: CallScope,
): ToolContext {
  const { toolCallId, attempt } = effect;
  const { decision, asked } = recordOf(state, toolCallId) ?? {};
  const approvedBy = decision?.by;
  const reserved = effect.type === "call-tool" ? effect.budget : undefined;
  const budgetLeft = reserved ?? budgetLeftAt(state);
  const details = { toolCallId, attempt, approvedBy, budgetLeft, asked: askedOf(asked) };
  return contextOf(details, state, host, scope);
}

/** The question of an earlier attempt with its reply; undefined without a reply. An answer with a schema is JSON. */
function askedOf(record: ToolQuestionRecord | undefined): AskedByTool | undefined {
  if (record === undefined || record.reply === null) return undefined;
  const { question, state, answerSchema, reply } = record;
  if (reply.type === "refused") {
    const isExpired = reply.by === "deadline" && reply.reason === "";
    return { question, state, reply: isExpired ? { ...reply, reason: wording.unanswered } : reply };
  }
  const { content, by } = reply;
  const isText = answerSchema === undefined || jsonObjectOf(answerSchema)?.["type"] === "string";
  const value = isText ? undefined : textToJson(content);
  const answer = value === undefined ? content : value;
  return { question, state, reply: { type: "answered", answer, by } };
}

/** The context of any call. Progress that is reported after the abort or the timeout is dropped. */
export const contextOf = (
  details: CallDetails,
  state: AgentState,
  host: EffectHost,
  { tool, late, updates }: CallScope,
): ToolContext => {
  const given = tool.context === undefined ? undefined : host.context;
  const { config, reActContext } = state;
  const fields = { ...details, loop: reActContext.loop, prices: config.prices, given };
  const context = new Context(fields, state, host, late);
  return updates === undefined ? context : Object.assign(context, updates.context());
};

/** What a tool that runs a session of its own, or changes its own session, needs of the session that calls it. */
export interface CallHost {
  readonly host: Pick<EffectHost, "clock" | "dispatchAtOnce">;
  /** The newest state that the host knows. */
  readonly state: () => AgentState;
  /** `session` of the host. */
  readonly session: object | undefined;
  /** Stops the time of the call's timeout until the returned function is called. */
  holdTimeout(): () => void;
}

const callHost: unique symbol = Symbol("call host");

/** What of a context belongs to its session; undefined for a context that was made elsewhere. Copies of a context have it. */
export const callHostOf = (context: ToolContext & { readonly [callHost]?: CallHost }): CallHost | undefined =>
  context[callHost];

/** The idempotency key of a call: the same for all its attempts, different for every other call. */
export const callIdempotencyKey = (sessionId: string, toolCallId: string): string =>
  `${sessionId}/${toolCallId}`;

class Context implements ToolContext {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly loop: number;
  readonly idempotencyKey: string;
  declare readonly approvedBy?: string;
  declare readonly budgetLeft?: Spending;
  declare readonly asked?: AskedByTool;
  /** What the host gives to the session. */
  declare readonly context?: unknown;
  readonly prices: PriceList;
  declare readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  readonly [callHost]: CallHost;
  readonly #host: EffectHost;
  readonly #late: LazyAbort;
  #signal: AbortSignal | undefined;

  /**
   * The signal is created when it is read: most tools do not read it, and joining signals is slow. It is a context's own property, so
   * that copies of it have it. All contexts share the descriptor, and with it one hidden class.
   */
  static readonly #lazySignal: PropertyDescriptor & ThisType<Context> = {
    get() {
      return (this.#signal ??= AbortSignal.any([this.#host.signal, this.#late.signal]));
    },
    enumerable: true,
  };

  constructor(
    { toolCallId, attempt, loop, approvedBy, budgetLeft, asked, prices, given }: ContextFields,
    state: AgentState,
    host: EffectHost,
    late: LazyAbort,
  ) {
    this.toolCallId = toolCallId;
    this.attempt = attempt;
    this.loop = loop;
    this.idempotencyKey = callIdempotencyKey(host.sessionId, toolCallId);
    if (approvedBy !== undefined) this.approvedBy = approvedBy;
    if (budgetLeft !== undefined) this.budgetLeft = budgetLeft;
    if (asked !== undefined) this.asked = asked;
    if (given !== undefined) this.context = given;
    this.prices = prices;
    this.#host = host;
    this.#late = late;
    this.#signal = undefined;
    this.progress = (text) => {
      if (!isAborted(host) && !late.isAborted) host.notify({ type: "ToolCallProgress", toolCallId, text });
    };
    this[callHost] = {
      host,
      state: () => host.current?.() ?? state,
      session: host.session,
      holdTimeout: () => late.hold(),
    };
    Object.defineProperty(this, "signal", Context.#lazySignal);
  }
}
