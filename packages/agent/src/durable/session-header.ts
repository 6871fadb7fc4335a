import {
  agentConfigSchema,
  defaultAgentConfig,
  initialAgentState,
  toolsSchema,
  type AgentConfig,
  type AgentState,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import { SessionError } from "./session-error.ts";

/** The format of headers and records that this release writes. */
export const logFormat = 1;

/** The first line of a session: what the fold begins with. */
export interface SessionHeader {
  readonly format: number;
  readonly agent: { readonly name: string; readonly version: string };
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  /** Where a fork came from. */
  readonly parent?: { readonly id: string; readonly seq: number };
}

export const headerOf = ({ name, version, config, tools }: Agent<unknown>): SessionHeader => ({
  format: logFormat,
  agent: { name, version },
  config,
  tools,
});

export const headerToText = (header: SessionHeader): string => JSON.stringify(header);

/** Throws `UnsupportedVersion` for a newer format, and for what is no header. */
export function textToHeader(text: string): SessionHeader {
  const stored = JSON.parse(text) as Partial<SessionHeader>;
  if (stored.format !== logFormat)
    throw new SessionError(
      "UnsupportedVersion",
      `This release reads logs of format ${logFormat}, this one is of ${stored.format}.`,
      { seq: 0 },
    );
  const config = agentConfigSchema.safeParse({ ...defaultAgentConfig, ...stored.config });
  const tools = toolsSchema.safeParse(stored.tools);
  if (!config.success || !tools.success || stored.agent === undefined)
    throw new SessionError(
      "UnsupportedVersion",
      "The header of this log is none that this release can read.",
      { seq: 0 },
    );
  const { agent, parent } = stored;
  return {
    format: logFormat,
    agent,
    config: config.data,
    tools: tools.data,
    ...(parent === undefined ? {} : { parent }),
  };
}

/** The state before the first record. */
export const headerToState = ({ config, tools }: SessionHeader): AgentState =>
  initialAgentState({ config, tools });
