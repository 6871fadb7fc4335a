import {
  rulesVersion,
  type AgentConfig,
  type AgentState,
  type Json,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import {
  agentConfigChangeSchema,
  baseAgentConfig,
  changeConfig,
  initialStateOf,
  jsonCopy,
  toolsSchema,
} from "@moora/agent-core-state-machine/internal";
import { textToJson } from "@moora/llm/internal";
import type { Agent } from "../define-agent.ts";
import { SessionError } from "./session-error.ts";

/**
 * The format of headers and records that this release writes. In format 1 headers had no `rules`, and the chain of digests covered
 * what the reducer made of inputs.
 */
const logFormat = 2;

/** The header of a session, from which the fold of its log starts. Written once. */
export interface SessionHeader {
  readonly format: number;
  /** The `rulesVersion` of the release that created the session. */
  readonly rules: number;
  /** A random id that distinguishes this session from an earlier one of the same id that was removed. */
  readonly incarnation?: string;
  readonly agent: { readonly name: string; readonly version: string };
  /** The user to whom the session belongs; undefined if it was created without one. */
  readonly user?: string;
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  /** The agent of a team that a new session starts with. */
  readonly activeAgent?: string;
  /** The application data of a new session, and its version. */
  readonly data?: { readonly version: number; readonly initial: Json };
  /** The idempotency key of the call of a tool that the session was opened for; undefined for a session of its own. */
  readonly caller?: string;
  /** The session that a fork was made from, and the last record that both have in common. */
  readonly parent?: { readonly id: string; readonly seq: number };
}

export function headerOf(
  { name, version, config, tools, team, parts: { data } }: Agent<unknown>,
  incarnation: string,
  { user, caller }: Pick<SessionHeader, "user" | "caller"> = {},
): SessionHeader {
  return {
    format: logFormat,
    rules: rulesVersion,
    incarnation,
    agent: { name, version },
    ...(user === undefined ? {} : { user }),
    ...(caller === undefined ? {} : { caller }),
    config,
    tools,
    ...(team === undefined ? {} : { activeAgent: team.start }),
    ...(data === undefined ? {} : { data: { version: data.version, initial: data.initial } }),
  };
}

/**
 * The identity of a session in idempotency keys and in the digests of questions. It contains the incarnation, so that a
 * new session with the id of a removed one inherits neither its completed calls nor its approvals.
 */
export const identityOf = (id: string, { incarnation }: Pick<SessionHeader, "incarnation">): string =>
  incarnation === undefined ? id : `${id}/${incarnation}`;

export const headerToText = (header: SessionHeader): string => JSON.stringify(header);

type Fields = Readonly<Record<string, unknown>>;

/** Converts a header to the format of this release. Throws `UnsupportedVersion` for one of any other format. */
function upcastHeader(header: Fields): Fields & { readonly rules: number } {
  const current = format1ToFormat2(header);
  const { format, rules } = current;
  if (format !== logFormat) {
    throw unsupported(
      `Unsupported log format ${String(format)}: this release reads formats 1 to ${logFormat}.`,
    );
  }
  if (typeof rules !== "number") throw unsupported("Unsupported header: it names no version of the rules.");
  return { ...current, rules };
}

const format1ToFormat2 = (header: Fields): Fields =>
  header["format"] === 1 ? { ...header, format: 2, rules: 1 } : header;

/** Parses a header. Throws `UnsupportedVersion` for a format of a newer release, and for a text that is not a header. */
export function textToHeader(text: string): SessionHeader {
  const stored = upcastHeader(fieldsOf(textToJson(text)));
  const { rules, incarnation, activeAgent, user, caller } = stored;
  const agent = fieldsOf(stored["agent"]);
  const parent = fieldsOf(stored["parent"]);
  const config = agentConfigChangeSchema.safeParse(fieldsOf(stored["config"]));
  const tools = toolsSchema.safeParse(stored["tools"]);
  if (!config.success || !tools.success) {
    throw unsupported(
      "Unsupported header: a newer release wrote the log, or it is not the log of a session.",
    );
  }
  const { id, seq } = parent;
  return {
    format: logFormat,
    rules,
    ...(typeof incarnation === "string" ? { incarnation } : {}),
    agent: { name: String(agent["name"]), version: String(agent["version"]) },
    ...(typeof user === "string" ? { user } : {}),
    ...(typeof caller === "string" ? { caller } : {}),
    // A field that an older release did not have gets its default.
    config: changeConfig(baseAgentConfig, config.data),
    tools: tools.data,
    ...(typeof activeAgent === "string" ? { activeAgent } : {}),
    ...dataOfHeader(stored["data"]),
    ...(typeof id === "string" && typeof seq === "number" ? { parent: { id, seq } } : {}),
  };
}

function dataOfHeader(stored: unknown): Pick<SessionHeader, "data"> {
  const { version, initial } = fieldsOf(stored);
  if (typeof version !== "number") return {};
  const copied = jsonCopy(initial);
  if ("problem" in copied) throw unsupported("Unsupported header: its data is not JSON.");
  return { data: { version, initial: copied.copy } };
}

const unsupported = (message: string): SessionError =>
  new SessionError("UnsupportedVersion", message, { seq: 0 });

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** The state before the first record. */
export const headerToState = (
  header: Pick<SessionHeader, "config"> & Partial<Pick<SessionHeader, "tools" | "data" | "activeAgent">>,
): AgentState => initialStateOf(header);
