import type { LogListener } from "@moora/agent";
import { BuildError, type Progress } from "@moora/agent-core-effects";
import {
  checkOptions,
  required,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { maxIdLength, type LiveChannel } from "@moora/event-log";

/** The options of `restateServices`. */
export interface RestateOptions {
  /** The URL of the ingress of Restate, such as "http://127.0.0.1:8080". Effects report their results to it. */
  readonly ingressUrl: string;
  /** What the tools and handlers of the agent need of this process: they read it as `context.context`. Default: none. */
  readonly context?: unknown;
  /** Receives the progress of the effects that run in this process, such as the text of the model. Default: none. */
  readonly onProgress?: (sessionId: string, progress: Progress) => void;
  /**
   * The live channel of the servers with viewers, which `restateLog` has there, such as `live` of a `postgresLog`: they show what the effects of
   * this process stream, and records at once. The services listen on it until its log is closed. Default: none.
   */
  readonly live?: LiveChannel;
  /**
   * How long an effect may take, in milliseconds: after it, Restate interrupts its run. Longer than the longest model call and the
   * longest tool. Default: 1,800,000, half an hour.
   */
  readonly longestEffectMs?: number;
  /**
   * How much of its sessions this process keeps folded, in bytes of the JSON of their states, which take several times that in memory:
   * at an input, only what is new is read of these. All others are read as a whole, so more than the sessions have that are at work
   * at the same time. Default: 67,108,864, 64 MiB.
   */
  readonly cacheBytes?: number;
  /**
   * How long Restate keeps the journals of inputs and effects that have ended, which its UI shows, in milliseconds. Their results, of
   * a few bytes, are kept for at least a minute. Default: as the server is configured, a day unless that is changed.
   */
  readonly retentionMs?: number;
  /**
   * Receives the log entries of the effects that run in this process: retries of models and tools, late results, and results that do
   * not apply. Default: none.
   */
  readonly onLog?: LogListener;
}

/** What an id must be, and whether a value is one: as logs check ids, and without two that URLs have no place for. */
export const idForm: OptionForm = {
  expectation: `a well-formed string of 1 to ${maxIdLength} characters, and not "." or ".."`,
  fits: (value) =>
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= maxIdLength &&
    value.isWellFormed() &&
    value !== "." &&
    value !== "..",
};

/** The URL of an ingress. */
export const ingressForm: OptionForm = {
  expectation: 'a URL such as "http://127.0.0.1:8080"',
  fits: (value) => typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value),
};

/** A live channel. */
export const liveForm: OptionForm = {
  expectation: "a live channel, such as live of a postgresLog",
  fits: (value) =>
    typeof value === "object" &&
    value !== null &&
    "publish" in value &&
    "subscribe" in value &&
    typeof value.publish === "function" &&
    typeof value.subscribe === "function",
};

const forms: OptionForms<RestateOptions> = {
  ingressUrl: required(ingressForm),
  context: "any",
  onProgress: "function",
  live: liveForm,
  longestEffectMs: "positive",
  cacheBytes: "positive",
  retentionMs: {
    expectation: "an integer of milliseconds, 0 or more",
    fits: (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  },
  onLog: "function",
};

/** Throws `BuildError` for invalid options of `restateServices`. */
export const checkRestateOptions = (options: RestateOptions): void =>
  checkOptions("restateServices", options, forms);

/** How long results are kept at least: a node that waits for one asks for it again when the node that had it fails. */
const minuteMs = 60_000;

interface Retention {
  readonly journalRetention?: number;
  readonly idempotencyRetention?: number;
}

/** The options of services and handlers of which Restate keeps what has ended for so long. */
export const retentionOptions = (milliseconds: number | undefined): Retention =>
  milliseconds === undefined
    ? {}
    : { journalRetention: milliseconds, idempotencyRetention: Math.max(minuteMs, milliseconds) };

/** The names of the services of an agent. Throws `BuildError` for an agent whose name is not the name of a service. */
export function serviceNames(agent: string): { readonly session: string; readonly effects: string } {
  if (!/^[a-zA-Z][a-zA-Z0-9._-]*$/.test(agent)) {
    const got = JSON.stringify(agent);
    throw new BuildError(
      `The name of an agent on Restate must start with a letter and consist of letters, digits, ".", "_" and "-", got ${got}.`,
    );
  }
  // The server refuses them at the registration.
  if (/^restate/i.test(agent)) {
    const got = JSON.stringify(agent);
    throw new BuildError(`The name of an agent on Restate must not start with "restate", got ${got}.`);
  }
  return { session: `${agent}-session`, effects: `${agent}-effects` };
}

/** The topic to which the ids of sessions with new records are sent. `service`: the name of the object of the sessions. */
export const headTopic = (service: string): string => `restate/${service}`;
