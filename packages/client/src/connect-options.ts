import { answerOfText } from "@moora/agent/internal";
import { refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import type { PostStorage } from "./post-store.ts";
import {
  checkServerOptions,
  serverForms,
  serverSettingsOf,
  type ServerOptions,
  type ServerSettings,
} from "./server-options.ts";

/** The options of `connectSession`. Exactly one of `id` and `agent` is required. */
export interface ConnectOptions<Answer = string> extends ServerOptions {
  /** The id of a session. */
  readonly id?: string;
  /** The name of an agent: creates a session of it. */
  readonly agent?: string;
  /**
   * Reads the answer from the text of the model; `schema` is the JSON Schema of the agent, or null. Default: the text, or its
   * JSON value if the agent has a schema.
   */
  readonly answerOf?: (text: string, schema: string | null) => Answer | Promise<Answer>;
  /**
   * Stores messages and decisions until the server has confirmed them, in clear text: a later call with the same `url`, `id` and user
   * sends them, if the session was not removed and created again. Default: none, and posts that are pending are lost when the page is closed.
   */
  readonly storage?: PostStorage;
  /** After how many milliseconds without a byte the connection counts as lost. Default: 45,000. */
  readonly streamIdleMs?: number;
}

const forms: OptionForms<ConnectOptions<unknown>> = {
  ...serverForms,
  id: "string",
  agent: "string",
  answerOf: "function",
  storage: { expectation: "an object with list, add and remove", fits: isStorage },
  streamIdleMs: "positive",
};

function isStorage(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["list", "add", "remove"].every((name) => typeof Reflect.get(value, name) === "function");
}

/** Options with their defaults. */
export type ConnectSettings<Answer> = ConnectOptions<Answer> &
  Required<Pick<ConnectOptions<Answer>, "answerOf" | "streamIdleMs">> &
  ServerSettings;

/** Throws `BuildError` for options that do not fit. */
export function settingsOf<Answer>(options: ConnectOptions<Answer>): ConnectSettings<Answer> {
  const caller = "connectSession";
  checkServerOptions<ConnectOptions<unknown>>(caller, options, forms);
  checkTarget(options);
  return {
    ...options,
    ...serverSettingsOf(caller, options),
    // The caller names the type of the answer; the server has checked that it fits.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    answerOf: options.answerOf ?? (answerOfText as (text: string, schema: string | null) => Answer),
    streamIdleMs: options.streamIdleMs ?? 45_000,
  };
}

function checkTarget({ id, agent }: Pick<ConnectOptions, "id" | "agent">): void {
  if ((id === undefined) === (agent === undefined))
    refuse("connectSession needs either id, the id of a session, or agent, the name of an agent.");
  if (id === "") refuse("id of connectSession must not be empty. Give agent to create a session.");
  if (agent === "") refuse("agent of connectSession must not be empty. Give the name of an agent.");
}
