import { metrics, type Attributes, type Counter, type Histogram, type Meter } from "@opentelemetry/api";
import type { AgentInput } from "@moora/agent-core-state-machine";
import { attribute, metric, operation, scope } from "./names.ts";
import type { EndedSpan } from "./projection.ts";

/** The bucket boundaries that the conventions advise. */
const secondBoundaries = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const tokenBoundaries = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
/** People answer later than machines. */
const waitBoundaries = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];

/** Records the metrics of sessions. Durations are in seconds; those of interrupted work are not recorded. */
export class SessionMetrics {
  readonly #operationDuration: Histogram;
  readonly #toolDuration: Histogram;
  readonly #agentDuration: Histogram;
  readonly #humanWait: Histogram;
  readonly #tokenUsage: Histogram;
  readonly #toolCalls: Counter;
  readonly #retries: Counter;

  constructor(meter: Meter = metrics.getMeter(scope.name, scope.version, scope)) {
    const duration = (name: string, description: string, boundaries = secondBoundaries): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: "s",
        advice: { explicitBucketBoundaries: boundaries },
      });
    this.#operationDuration = duration(metric.operationDuration, "The duration of a model call.");
    this.#toolDuration = duration(metric.toolDuration, "The duration of an attempt of a tool call.");
    this.#agentDuration = duration(
      metric.agentDuration,
      "The duration of a loop, including waits for people.",
    );
    this.#humanWait = duration(metric.humanWait, "How long a question waited for a person.", waitBoundaries);
    this.#tokenUsage = meter.createHistogram(metric.tokenUsage, {
      description: "The tokens of a model call, by type.",
      unit: "{token}",
      advice: { explicitBucketBoundaries: tokenBoundaries },
    });
    this.#toolCalls = meter.createCounter(metric.toolCalls, {
      description: "Attempts of tool calls, and calls that were refused.",
      unit: "{call}",
    });
    this.#retries = meter.createCounter(metric.retries, {
      description: "Attempts after the first one.",
      unit: "{attempt}",
    });
  }

  /** Records a span that has ended. */
  recordSpan(ended: EndedSpan): void {
    const { attributes } = ended.span;
    switch (ended.operation) {
      case operation.chat:
        this.#duration(this.#operationDuration, ended, modelNames);
        this.#tokens(attributes, attributes);
        return this.#retry(ended, modelNames);
      case operation.executeTool:
        this.#toolCalls.add(1, {
          ...picked(attributes, [...toolNames, attribute.errorType]),
          ...hidden(ended),
        });
        if (!ended.isRefused) this.#duration(this.#toolDuration, ended, toolNames);
        return this.#retry(ended, toolNames);
      case operation.waitForHuman:
        return this.#duration(this.#humanWait, ended, [
          attribute.toolName,
          attribute.question,
          attribute.decision,
        ]);
      case operation.invokeAgent:
        return this.#duration(this.#agentDuration, ended, agentNames);
      case operation.handleState:
        return this.#retry(ended, [attribute.operation, attribute.state]);
    }
  }

  /** Records the usage that a model call reported after its span had ended. */
  recordInput(input: AgentInput, attributes: Attributes): void {
    if (input.type !== "usage-reported" || !/^(?:plan|reflect)\//.test(input.key)) return;
    const { inputTokens, outputTokens } = input.usage ?? {};
    const reported = { [attribute.inputTokens]: inputTokens, [attribute.outputTokens]: outputTokens };
    this.#tokens(reported, { ...attributes, [attribute.operation]: operation.chat });
  }

  #duration(histogram: Histogram, ended: EndedSpan, names: readonly string[]): void {
    if (ended.isInterrupted) return;
    const attributes = picked(ended.span.attributes, [...names, attribute.errorType]);
    histogram.record(ended.durationMs / 1_000, attributes);
  }

  #tokens(usage: Attributes, attributes: Attributes): void {
    const types = { input: usage[attribute.inputTokens], output: usage[attribute.outputTokens] };
    for (const [type, tokens] of Object.entries(types)) {
      if (typeof tokens !== "number") continue;
      this.#tokenUsage.record(tokens, { ...picked(attributes, modelNames), [attribute.tokenType]: type });
    }
  }

  #retry({ span: { attributes } }: EndedSpan, names: readonly string[]): void {
    const attempt = attributes[attribute.attempt];
    if (typeof attempt === "number" && attempt > 1) this.#retries.add(1, picked(attributes, names));
  }
}

const modelNames = [
  attribute.operation,
  attribute.provider,
  attribute.requestModel,
  attribute.serverAddress,
  attribute.serverPort,
];
/** A model may invent any number of names of tools: metrics do not have them. */
const hidden = ({ isRefused }: EndedSpan): Attributes =>
  isRefused ? { [attribute.toolName]: "_OTHER" } : {};

const toolNames = [attribute.operation, attribute.toolName];
const agentNames = [attribute.operation, attribute.agentName, attribute.provider];

/** The attributes with these names. Attributes of metrics have few values; those of spans may have many. */
function picked(attributes: Attributes, names: readonly string[]): Attributes {
  const some: Attributes = {};
  for (const name of names) if (attributes[name] !== undefined) some[name] = attributes[name];
  return some;
}
