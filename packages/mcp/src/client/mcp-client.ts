import type { RepeatedCall } from "./repeated-call.ts";

/** A tool as a server lists it. Everything in it is the server's own claim. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations?: McpToolAnnotations | undefined;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}

/** What a server claims about a tool. */
export interface McpToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** The progress of a call. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** What a call sends to a server that has asked for input: the answers, and the state of the server. */
export interface McpInputParams {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** The parameters of `tools/call`. */
export interface McpCallParams extends McpInputParams {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly _meta: Record<string, unknown>;
}

/** The options of a call. */
export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
  readonly onprogress: (progress: McpProgress) => void;
  /** Whether a result of the newer protocol may ask for input. Default: false. */
  readonly allowInputRequired?: boolean;
}

/** The part of a connected `Client` of `@modelcontextprotocol/client` that `mcpTools` uses. */
export interface McpClient {
  listTools(): Promise<{ readonly tools: readonly McpTool[] }>;
  callTool(params: McpCallParams, options: McpCallOptions): Promise<unknown>;
}

/**
 * The options of a call with the definition of its tool, for a `Client` that checks results. The definition has no output schema: the
 * client would run its regular expressions, and its error would be the same as that of a server which refuses the call.
 */
export const withDefinition = (tool: McpTool, options: McpCallOptions): McpCallOptions => {
  const toolDefinition = { ...tool, outputSchema: undefined };
  return Object.assign({ ...options }, { toolDefinition });
};

/** The options of a call that is sent, with what answers the questions of a server in the older protocol. */
export interface SendOptions extends McpCallOptions {
  readonly repeated: RepeatedCall | undefined;
}

/** Sends calls of listed tools. */
export interface CallSender {
  /** Resolves with the result as the server sent it. */
  readonly send: (tool: McpTool, params: McpCallParams, options: SendOptions) => Promise<unknown>;
  /** Whether a question of the server is one of the agent. Otherwise the client answers it, or the call fails. */
  readonly asksPerson: boolean;
}
