import type { ToolContext } from "@moora/agent-core-effects";
import { truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { untilAborted } from "@moora/llm/internal";
import { McpError } from "../mcp-error.ts";
import { afterInputRequired, inputParams, isInputRequired } from "./input-required.ts";
import type { CallSender, McpCallParams, McpProgress, McpTool } from "./mcp-client.ts";
import type { ReceivedCheck } from "./received-schema.ts";
import { RepeatedCall } from "./repeated-call.ts";
import type { McpToolsOptions } from "./tools-options.ts";
import { resumedCall, type WaitingCall } from "./waiting-call.ts";

/** The maximum length of a report of progress, in characters. */
const maxProgressLength = 1_000;

/** The timers of the SDK do not limit calls: the runner does, with its own clock. This is the longest that they can be. */
const noTimeoutMs = 2 ** 31 - 1;

export const defaultMaxResultBytes: number = 4 * 1024 * 1024;

/** What a call needs besides its tool and its input. */
export interface CallParts {
  readonly options: McpToolsOptions;
  readonly checkOutput: ReceivedCheck;
  readonly sender: CallSender;
  /** Whether the call may be made again, so that a person can answer in between. */
  readonly mayRepeat: boolean;
}

/** How an attempt ends: with a result of the server, or with a question to a person. */
type AttemptEnd = { readonly result: unknown } | { readonly waiting: WaitingCall };

/** One attempt of a call. */
export async function runCall(
  tool: McpTool,
  input: JsonObject,
  context: ToolContext,
  parts: CallParts,
): Promise<AttemptEnd> {
  let waiting = resumedCall(context.asked);
  for (;;) {
    if (waiting.open.length > 0) return { waiting };
    const params = {
      name: tool.name,
      arguments: { ...input },
      _meta: { "moora/idempotency-key": context.idempotencyKey },
      ...inputParams(waiting),
    };
    const end = await sendCall(tool, params, context, { ...parts, waiting });
    if ("waiting" in end || !isInputRequired(end.result)) return end;
    waiting = afterInputRequired(tool.name, waiting, end.result);
    if (waiting.open.length === 0) await pause(pauseMs, context.signal);
  }
}

async function sendCall(
  tool: McpTool,
  params: McpCallParams,
  { progress, signal }: ToolContext,
  { mayRepeat, options, sender, waiting }: CallParts & { readonly waiting: WaitingCall },
): Promise<AttemptEnd> {
  const repeated = sender.asksPerson && mayRepeat ? new RepeatedCall(waiting) : undefined;
  try {
    const result = await sender.send(tool, params, {
      signal: repeated === undefined ? signal : AbortSignal.any([signal, repeated.signal]),
      timeout: noTimeoutMs,
      onprogress: (report) => progress(progressText(report)),
      allowInputRequired: sender.asksPerson,
      repeated,
    });
    checkResultSize(tool.name, result, options.maxResultBytes ?? defaultMaxResultBytes);
    return { result };
  } catch (error) {
    const ended = signal.aborted ? undefined : repeated?.waiting(tool.name);
    if (ended === undefined) throw error;
    return { waiting: ended };
  }
}

/** The pause before a server is asked again that has neither a result nor a question yet. */
const pauseMs = 500;

/** Resolves after a time, and at once when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await untilAborted(promise, signal);
  clearTimeout(timer);
}

/** Throws `McpError` for a result that is larger than the limit. */
function checkResultSize(tool: string, result: unknown, limit: number): void {
  const size = new TextEncoder().encode(JSON.stringify(result)).length;
  if (size > limit) throw resultTooLarge(tool, limit);
}

/** The error of a call whose result is larger than the limit. */
export const resultTooLarge = (tool: string, limit: number): McpError =>
  new McpError(
    "result-too-large",
    `The result of the MCP tool ${tool} is larger than ${limit} bytes. The call ran and may have had its effect. Ask for less, ` +
      "or raise maxResultBytes.",
  );

const progressText = ({ message, progress, total }: McpProgress): string =>
  truncated(message ?? (total === undefined ? String(progress) : `${progress}/${total}`), maxProgressLength);
