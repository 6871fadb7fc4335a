import type { Agent } from "@moora/agent";
import {
  checkOptions,
  isObject,
  refuse,
  shownValue,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { AgentServer } from "./agent-server.ts";
import { isLocalName } from "./local-names.ts";
import { servedAgents, type ServedAgent } from "./served-agent.ts";
import type { McpServerOptions, McpAgentServer } from "./mcp-agent-server.ts";

const logForm: OptionForm = {
  expectation: "a log, such as memoryLog()",
  fits: (value) => isObject(value) && typeof value["open"] === "function",
};

const forms: OptionForms<McpServerOptions> = {
  log: logForm,
  name: "string",
  version: "string",
  secret: "any",
  authorize: "function",
  allowedHosts: "texts",
  onError: "function",
  onLog: "function",
};

/**
 * Serves agents as tools: a call gives an agent a task and returns its answer. What the agent asks a person is asked through the
 * client, if it can; sessions are resources. Speaks both generations of the protocol. Needs the package
 * `@modelcontextprotocol/server`. Throws `BuildError` for an invalid agent or option.
 */
export function mcpServer(
  agents: readonly (Agent<unknown> | ServedAgent)[],
  options: McpServerOptions,
): McpAgentServer {
  checkOptions("mcpServer", options, forms);
  const { allowedHosts = [], authorize, log, secret } = options;
  if (log === undefined) refuse("log is missing. Give a log, such as memoryLog().");
  checkSecret(secret);
  const beyond = allowedHosts.find((name) => !isLocalName(name));
  if (beyond !== undefined && authorize === undefined) {
    refuse(
      `allowedHosts names ${shownValue(beyond)}, which other machines can reach. Give authorize as well.`,
    );
  }
  return new AgentServer(servedAgents(agents), options);
}

/** Throws `BuildError` for a key that is too short. */
export function checkSecret(secret: McpServerOptions["secret"]): void {
  const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : secret;
  if (bytes !== undefined && !(bytes instanceof Uint8Array && bytes.length >= 32))
    refuse("secret must have at least 32 bytes.");
}
