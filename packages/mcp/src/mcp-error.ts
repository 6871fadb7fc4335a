import { MooraError } from "@moora/agent-core-effects";

/**
 * The code of an `McpError`; a tool call that fails for this reason has it as the code of its result.
 *
 * - `connect-failed`: the server cannot be started or reached, or it does not answer in time.
 * - `connection-lost`: the connection ended during the call, which may have had its effect.
 * - `unauthorized`: the server asks for credentials, or refuses the given ones.
 * - `refused`: the server answered with an error of the protocol. Its message says whether the call may have had its effect.
 * - `input-required`: the server needs an answer that no person can be asked for, or asks without an end.
 * - `invalid-result`: the answer does not follow the protocol or the output schema of its tool. The call ran.
 * - `result-too-large`: the answer has more than `maxResultBytes`.
 * - `tool-changed`: the server has changed or removed the tool since the agent was defined. The call is not sent.
 * - `timeout`, `cancelled`: the call ended early. It may have had its effect.
 * - `closed`: the application has closed the connection.
 * - `name-collision`: two tools have the same name.
 * - `too-many-tools`: the server lists more tools than an agent may have, or its list has no end.
 * - `invalid-config`: a configuration file cannot be used.
 * - `not-installed`: a package of the protocol's SDK is missing.
 */
export type McpErrorCode =
  | "connect-failed"
  | "connection-lost"
  | "unauthorized"
  | "refused"
  | "input-required"
  | "invalid-result"
  | "result-too-large"
  | "tool-changed"
  | "timeout"
  | "cancelled"
  | "closed"
  | "name-collision"
  | "too-many-tools"
  | "invalid-config"
  | "not-installed";

/** An error of a connection to an MCP server, of one of its calls, or of its configuration. */
export class McpError extends MooraError {
  override readonly name = "McpError";
  readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}
