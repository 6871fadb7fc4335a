import { canonicalJson } from "@moora/agent";
import type { Tool } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { McpError } from "../mcp-error.ts";
import type { McpConnection, McpConnectOptions } from "./mcp-connection.ts";
import type { McpElicitation, McpElicitationAnswer, OnElicitation } from "./elicitation.ts";
import { errorToMcpError, isTooLarge, lostAmong } from "./error-to-mcp-error.ts";
import { defaultMaxResultBytes, resultTooLarge } from "./tool-call.ts";
import { listedTools } from "./listed-tools.ts";
import {
  withDefinition,
  type CallSender,
  type McpCallOptions,
  type McpCallParams,
  type McpProgress,
  type McpTool,
  type SendOptions,
} from "./mcp-client.ts";
import type { ServerLink } from "./open-link.ts";
import type { ToolList } from "./read-tools.ts";
import { Reconnector } from "./reconnector.ts";
import { SecretMask } from "./secret-mask.ts";
import type { McpServerAddress } from "./server-address.ts";
import type { SkippedTool } from "./tools-options.ts";

/** A connection that lasts longer than its links: after the end of one, the next call opens another. */
export class Connection implements McpConnection {
  readonly name: string;
  readonly #options: McpConnectOptions;
  readonly #mask: SecretMask;
  readonly #links: Reconnector;
  readonly #openCalls = new Set<Pick<SendOptions, "repeated">>();
  readonly #listeners = new Set<(tools: readonly Tool[]) => void>();
  /** What was reported: a list is read again when it changes, and for each link. */
  readonly #skipped = new Set<string>();
  #tools: readonly Tool[] = [];
  #instructions: string | undefined;
  /** What the server lists now: the part of each tool that its use depends on, by its name. */
  #listed: ReadonlyMap<string, string> = new Map();

  static async open(address: McpServerAddress, options: McpConnectOptions): Promise<Connection> {
    const connection = new Connection(address, options);
    await connection.#links.link();
    return connection;
  }

  private constructor(address: McpServerAddress, options: McpConnectOptions) {
    this.name = options.name;
    this.#options = options;
    this.#mask = new SecretMask(address);
    const { maxResultBytes = defaultMaxResultBytes, onElicitation } = options;
    const answer = onElicitation === undefined ? this.#answer.bind(this) : orCancel(onElicitation);
    this.#links = new Reconnector(address, {
      name: options.name,
      connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
      maxReconnects: options.maxReconnects ?? 3,
      // The same content can take more bytes in a message than in JSON of ours, and the list of tools has to fit as well.
      maxMessageBytes: 2 * Math.max(maxResultBytes, 1024 * 1024),
      mask: this.#mask,
      onElicitation: (question) => answer(this.#mask.content(question)),
      elicitsInOlderProtocol:
        onElicitation !== undefined || options.trust === true || options.rule !== undefined,
      onListChanged: (error, list) => this.#listChanged(error, list),
      onLink: (link) => this.#adopt(link),
    });
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get instructions(): string | undefined {
    return this.#instructions;
  }

  onToolsChanged(listener: (tools: readonly Tool[]) => void): () => void {
    if (typeof listener !== "function")
      refuse(`onToolsChanged needs a function, got ${shownValue(listener)}.`);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#links.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Uses a new link. A server that was started again may be another release, with other tools. */
  #adopt({ client, list }: ServerLink): void {
    this.#instructions = this.#mask.content(client.getInstructions());
    const isFirst = this.#listed.size === 0;
    const before = this.#listed;
    this.#use(list);
    if (!isFirst && !isSame(before, this.#listed)) this.#report();
  }

  #listChanged(error: unknown, list: ToolList | undefined): void {
    try {
      if (list === undefined) throw errorToMcpError(`${this.name} (list of tools)`, this.#mask.error(error));
      this.#use(list);
      this.#report();
    } catch (problem) {
      this.#reportError(problem);
    }
  }

  #use(received: ToolList): void {
    const asksPerson = this.#options.onElicitation === undefined;
    const list = this.#mask.content(received);
    const skipped = this.#skipped;
    const onSkipped = (tool: SkippedTool): void => {
      if (skipped.size !== skipped.add(JSON.stringify(tool)).size) this.#options.onSkipped?.(tool);
    };
    this.#tools = listedTools(list, { ...this.#options, onSkipped }, { send: this.#send, asksPerson });
    this.#listed = new Map(list.tools.map((tool) => [tool.name, usedPart(tool)]));
  }

  #report(): void {
    for (const listener of this.#listeners) {
      try {
        listener(this.#tools);
      } catch (error) {
        this.#reportError(error);
      }
    }
  }

  #reportError(error: unknown): void {
    this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  /**
   * Answers a question in the older protocol, which does not say which call it belongs to. Throws if no person can be asked: the
   * call must not be made again, or others are open.
   */
  #answer(question: McpElicitation): McpElicitationAnswer {
    const [call, ...others] = this.#openCalls;
    if (call === undefined || others.length > 0)
      throw new Error("No person can be asked: several calls are open.");
    if (call.repeated === undefined)
      throw new Error("No person can be asked: the call may not be made again.");
    return call.repeated.answer(question);
  }

  readonly #send: CallSender["send"] = async (tool, params, { repeated, ...options }) => {
    const call = { repeated };
    this.#openCalls.add(call);
    try {
      return await this.#sendTwice(tool, params, options);
    } finally {
      this.#openCalls.delete(call);
    }
  };

  /** Sends a call, and once more if it was not sent because the link had ended before. */
  async #sendTwice(tool: McpTool, params: McpCallParams, options: McpCallOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const link = await this.#links.link(options.signal);
      this.#checkListed(tool);
      try {
        const signal = AbortSignal.any([options.signal, link.broken]);
        const onprogress = (progress: McpProgress): void => options.onprogress(this.#mask.content(progress));
        link.openCalls += 1;
        const result = await link.client.callTool(
          params,
          withDefinition(tool, { ...options, signal, onprogress }),
        );
        this.#links.answered();
        return this.#mask.content(result);
      } catch (error) {
        if (attempt === 1 && this.#links.wasNotSent(error)) continue;
        this.#links.closeIfUnknown(link, error);
        throw this.#failure(tool, link, this.#mask.error(error), options.signal);
      } finally {
        link.openCalls -= 1;
      }
    }
  }

  #checkListed(tool: McpTool): void {
    const listed = this.#listed.get(tool.name);
    if (listed === usedPart(tool)) return;
    const change = listed === undefined ? "no longer lists" : "has changed";
    throw new McpError(
      "tool-changed",
      `The MCP server ${this.name} ${change} the tool ${tool.name} since this agent was defined. The call was not sent.`,
    );
  }

  #failure(tool: McpTool, link: ServerLink, error: unknown, signal: AbortSignal): McpError {
    if (this.#links.isClosed && !signal.aborted) {
      return new McpError(
        "closed",
        `The connection to the MCP server ${this.name} was closed during the call of ${tool.name}, which may have had its effect.`,
        { cause: error },
      );
    }
    const failure = errorToMcpError(tool.name, error, signal);
    // A server that answers with an error is alive.
    if (failure.code === "refused" || failure.code === "input-required") this.#links.answered();
    if (signal.aborted) return failure;
    const openCalls: unknown = link.broken.aborted ? link.broken.reason : 0;
    if (typeof openCalls === "number" && openCalls > 1) return lostAmong(tool.name, openCalls);
    if (!link.broken.aborted && !isTooLarge(error)) return failure;
    return resultTooLarge(tool.name, this.#options.maxResultBytes ?? defaultMaxResultBytes);
  }
}

/** A rejection counts as no answer. */
const orCancel =
  (onElicitation: OnElicitation): OnElicitation =>
  async (question) => {
    try {
      return await onElicitation(question);
    } catch {
      return { action: "cancel" };
    }
  };

/** The part of a tool that an agent and its reviewers rely on. */
const usedPart = ({ annotations, inputSchema }: McpTool): string =>
  canonicalJson({ annotations: annotations ?? {}, inputSchema });

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([name, part]) => other.get(name) === part);
