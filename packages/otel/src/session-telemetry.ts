import { systemClock, type Agent, type Clock, type Session, type ToolContext } from "@moora/agent";
import {
  checkAgent,
  checkOptions,
  refuse,
  withMethods,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import type { Attributes, Meter, SpanContext } from "@opentelemetry/api";
import { Attachment, type AttachmentHost, type FollowedSession, type PositionStore } from "./attachment.ts";
import type { Capture } from "./content.ts";
import { Delivery } from "./delivery.ts";
import { SessionMetrics } from "./metrics.ts";
import {
  captureForm,
  checkArgument,
  exporterForm,
  spanContextForm,
  toolContextForm,
} from "./check-options.ts";
import { toResource, type SpanResource } from "./session-span.ts";
import { exporterSink, processorSink, type SpanExporterLike, type SpanProcessorLike } from "./sink.ts";
import { spanContextOf, SubAgentCalls, tracedAgent, type SubAgents } from "./tool-span.ts";

/** The options of `sessionTelemetry`. Without an `exporter` and a `processor`, there are metrics only. */
export interface TelemetryOptions {
  /** Receives the spans, in batches, one after the other. It is not shut down. */
  readonly exporter?: SpanExporterLike;
  /** Receives each span when it ends, such as a `BatchSpanProcessor`. It is not shut down. */
  readonly processor?: SpanProcessorLike;
  /** The resource of the spans, or its attributes. Default: `{ "service.name": "unknown_service" }`. */
  readonly resource?: SpanResource | Attributes;
  /** Default: the meter of the global meter provider. */
  readonly meter?: Meter;
  /**
   * Stores up to where the spans of a session in a log have been exported, so that no process exports them again. Default: none;
   * then the spans are exported that have ended since the last opening of the session.
   */
  readonly positions?: PositionStore;
  /** Default: false, spans contain nothing that was said. */
  readonly capture?: Capture;
  /** `gen_ai.provider.name` until an answer of the model names the provider. */
  readonly provider?: string;
  /**
   * Receives the errors of the exporter and of the position store; while the exporter fails, only the first one. Default:
   * `console.error`.
   */
  readonly onError?: (error: unknown) => void;
  /** The most spans that wait for the exporter; further ones are dropped. Default: 2,048. */
  readonly maxQueueSize?: number;
  /** How long an export may take, in milliseconds. Default: 30,000. */
  readonly exportTimeoutMs?: number;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/** The options of `attach`. */
export interface AttachOptions {
  /** Default: the name in the log of the session; "agent" for a session in memory. */
  readonly agentName?: string;
  /** The span that all loops of the session belong to. Default: each loop is a trace of its own, linked to the one before. */
  readonly parent?: SpanContext;
}

/** Spans and metrics of sessions, computed from their inputs. Methods are bound. */
export interface SessionTelemetry {
  /**
   * Follows a session until it is closed. Resolves with a function that ends this, when the past of the session has been read.
   * Inputs from the call of `attach` on are followed. Rejects with what reading the log or the position store rejects with, and
   * with `BuildError` for an invalid option.
   */
  attach(session: FollowedSession, options?: AttachOptions): Promise<() => void>;
  /**
   * Returns the agent, whose tools and model run under the spans of their calls: spans that are started in them, such as those
   * of HTTP requests, become children. It has the type of the agent, with its tools and its context. Needs a context manager.
   * Throws `BuildError` for a value that is not an agent.
   */
  traced<Traced extends Agent<unknown>>(agent: Traced): Traced;
  /** Follows the sessions of a sub-agent, as parts of the trace of their caller: the option `onSession` of `agentTool`. */
  onSession(session: Session<unknown>, context: ToolContext): void;
  /** Resolves when the spans that have ended by now are exported, or could not be. */
  flush(): Promise<void>;
  /** Ends all attachments, and flushes. */
  close(): Promise<void>;
}

/**
 * Creates the telemetry of any number of sessions. Throws `BuildError` for an unknown option, for a value of the wrong form, and for
 * an exporter with a processor.
 */
export function sessionTelemetry(options: TelemetryOptions): SessionTelemetry {
  checkOptions("sessionTelemetry", options, telemetryForms);
  if (options.exporter !== undefined && options.processor !== undefined)
    refuse("sessionTelemetry takes an exporter or a processor, got both. Give one of them.");
  return new Telemetry(options).methods();
}

class Telemetry {
  readonly #host: AttachmentHost;
  readonly #attachments = new Set<Attachment>();
  readonly #subAgents: SubAgents = new SubAgentCalls();

  constructor(options: TelemetryOptions) {
    const { resource, capture, provider } = options;
    const onError = errorReporter(options.onError);
    const delivery = deliveryOf(options, onError);
    this.#host = {
      delivery,
      metrics: new SessionMetrics(options.meter),
      // Without an exporter nothing is exported, so there is no position.
      positions: delivery === undefined ? undefined : options.positions,
      onError,
      projection: { resource: toResource(resource), capture, provider },
    };
  }

  methods(): SessionTelemetry {
    return {
      attach: async (session, options = {}) => {
        checkArgument("attach", session, followedForm);
        checkOptions("attach", options, attachForms);
        return await this.#attach(session, options);
      },
      traced: (agent) => {
        checkAgent("traced", agent);
        return tracedAgent(agent, this.#subAgents);
      },
      onSession: (session, context) => this.#followSubAgent(session, context),
      flush: () => this.#flush(),
      close: () => this.#close(),
    };
  }

  async #attach(
    session: FollowedSession,
    options: AttachOptions,
    hasOneLoop: boolean = false,
  ): Promise<() => void> {
    const parent = options.parent ?? this.#subAgents.parentOf(session.id);
    const endParent = parent === undefined ? undefined : this.#subAgents.begin(session.id, parent);
    const attachment = new Attachment(session, this.#host, {
      agentName: options.agentName ?? session.header?.agent.name ?? "agent",
      parent,
      onLoopEnd: hasOneLoop ? () => detach() : undefined,
    });
    const detach = (): void => {
      if (!this.#attachments.delete(attachment)) return;
      endParent?.();
      attachment.detach();
    };
    this.#attachments.add(attachment);
    try {
      await attachment.ready;
    } catch (error) {
      detach();
      throw error;
    }
    return detach;
  }

  #followSubAgent(session: Session<unknown>, context: ToolContext): void {
    checkArgument("onSession", context, toolContextForm);
    const parent = spanContextOf(context, this.#subAgents.parentOf);
    this.#attach(session, parent === undefined ? {} : { parent }, true).catch(this.#host.onError);
  }

  async #flush(): Promise<void> {
    const followed = [...this.#attachments];
    await Promise.allSettled(followed.map(({ ready }) => ready));
    await this.#host.delivery?.flush();
    await Promise.all(followed.map((attachment) => attachment.saved()));
  }

  async #close(): Promise<void> {
    await this.#flush();
    for (const attachment of this.#attachments) attachment.detach();
    this.#attachments.clear();
  }
}

function deliveryOf(options: TelemetryOptions, onError: (error: unknown) => void): Delivery | undefined {
  const { exporter, processor, clock = systemClock } = options;
  const { maxQueueSize = 2_048, exportTimeoutMs = 30_000 } = options;
  const about = { clock, maxQueueSize, exportTimeoutMs, onError };
  if (exporter !== undefined) return new Delivery({ ...about, sink: exporterSink(exporter) });
  if (processor === undefined) return undefined;
  return new Delivery({ ...about, sink: processorSink(processor, options.positions !== undefined) });
}

/** Reports errors to the listener. What it throws is ignored: telemetry never disturbs a session. */
const errorReporter =
  (listener: (error: unknown) => void = (error) => console.error("Telemetry of a session failed:", error)) =>
  (error: unknown): void => {
    try {
      listener(error);
    } catch {
      // The listener itself has failed, and there is no other one.
    }
  };

const telemetryForms: OptionForms<TelemetryOptions> = {
  exporter: exporterForm,
  processor: withMethods("a span processor", "onEnd", "forceFlush"),
  resource: "object",
  meter: withMethods("a meter", "createHistogram", "createCounter"),
  positions: withMethods("a position store", "load", "save"),
  capture: captureForm,
  provider: "string",
  onError: "function",
  maxQueueSize: "positive",
  exportTimeoutMs: "positive",
  clock: "clock",
};

const attachForms: OptionForms<AttachOptions> = { agentName: "string", parent: spanContextForm };

const followedForm = withMethods("a session", "current", "seq", "onInput");
