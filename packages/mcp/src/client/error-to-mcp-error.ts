import { McpError, type McpErrorCode } from "../mcp-error.ts";
import { causeText } from "./cause-text.ts";
import { messageTooLarge, streamEnded } from "./open-transport.ts";

const mayHaveRun = "The call may have had its effect.";

/** The codes of the SDK's errors that this package has codes of its own for; any other is `connection-lost`. */
const codes: Readonly<Record<string, CallCode>> = {
  CLIENT_HTTP_UNEXPECTED_CONTENT: "invalid-result",
  INPUT_REQUIRED_ROUNDS_EXCEEDED: "input-required",
  CAPABILITY_NOT_SUPPORTED: "input-required",
  INVALID_RESULT: "invalid-result",
  REQUEST_TIMEOUT: "timeout",
  UNSUPPORTED_RESULT_TYPE: "input-required",
};

/** The errors of the protocol with which a call has not run: no JSON, no request, no such method. */
const notRun: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601]);

/** The error of the protocol that is not a refusal: the client lacks a capability. */
const missingCapability = -32_021;

/** The failure of a call, by the error that the client of the protocol rejected with. */
export function errorToMcpError(tool: string, error: unknown, signal?: AbortSignal): McpError {
  if (error instanceof McpError) return error;
  const reason = mcpErrorIn(error);
  if (reason !== undefined) return reason;
  const code = signal?.aborted === true ? "cancelled" : codeOf(error);
  const text = causeText(error);
  const message =
    code === "refused" && mayFollowHandler(tool, error, text)
      ? `The MCP server answered the call of ${tool} with an error: ${text} ${mayHaveRun}`
      : messages[code](tool, text);
  return new McpError(code, message, { cause: error });
}

/** Whether an error of the protocol may have come after the tool ran, as that of a server which checks its own results. */
const mayFollowHandler = (tool: string, error: unknown, text: string): boolean =>
  !notRun.has(fieldOf(error, "code")) &&
  ![`Tool ${tool} not found.`, `Unknown tool: ${tool}.`].some((known) => text.endsWith(known));

/** Whether a call failed because its response was larger than a message may be. */
export const isTooLarge = (error: unknown): boolean => fieldOf(error, "code") === messageTooLarge;

/** The failure of a call that was open with others when a message over the limit ended the connection. */
export const lostAmong = (tool: string, openCalls: number): McpError =>
  new McpError(
    "connection-lost",
    `The connection to the MCP server of ${tool} was lost: it sent a message over the limit while ${openCalls} calls were open. ` +
      `${mayHaveRun} If its result is large, ask for less, or raise maxResultBytes. The next call connects again.`,
  );

/** The error of this package that is the cause of another one. */
function mcpErrorIn(error: unknown): McpError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1)
    if (cause instanceof McpError) return cause;
  return undefined;
}

/** Whether a server asks for credentials, or refuses the given ones. */
export const isUnauthorized = (error: unknown): boolean =>
  [401, 403].some((status) => fieldOf(error, "status") === status) ||
  fieldOf(error, "name") === "UnauthorizedError";

function codeOf(error: unknown): CallCode {
  const code = fieldOf(error, "code");
  if (isUnauthorized(error)) return "unauthorized";
  if (code === missingCapability) return "input-required";
  if (code === streamEnded || code === messageTooLarge) return "connection-lost";
  if (typeof code === "number") return "refused";
  const known = typeof code === "string" && Object.hasOwn(codes, code) ? codes[code] : undefined;
  return known ?? "connection-lost";
}

/** The texts of the codes with which a call ends by an error of the client of the protocol. */
const messages = {
  "connection-lost": (tool, text) =>
    `The connection to the MCP server of ${tool} was lost: ${text} ${mayHaveRun} The next call connects again.`,
  unauthorized: (tool, text) => `The MCP server of ${tool} refused the credentials: ${text}`,
  refused: (tool, text) => `The MCP server refused the call of ${tool}: ${text}`,
  "input-required": (tool, text) =>
    `The MCP tool ${tool} needs the answer of a person, which this agent cannot ask for: ${text}`,
  "invalid-result": (tool, text) => `The result of the MCP tool ${tool} is invalid: ${text} ${mayHaveRun}`,
  timeout: (tool) => `The MCP tool ${tool} did not answer in time. ${mayHaveRun}`,
  cancelled: (tool) => `The call of the MCP tool ${tool} was cancelled. ${mayHaveRun}`,
} satisfies Partial<Record<McpErrorCode, (tool: string, text: string) => string>>;

type CallCode = keyof typeof messages;

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
