import { isJsonObject, untilAborted } from "@moora/llm/internal";
import { McpError } from "../mcp-error.ts";
import { openLink, type LinkOptions, type ServerLink } from "./open-link.ts";
import type { McpServerAddress } from "./server-address.ts";

/** The options of a `Reconnector`. */
export interface ReconnectorOptions extends LinkOptions {
  readonly maxReconnects: number;
  /** Called with each new link, before it is used. What it throws fails the opening. */
  readonly onLink: (link: ServerLink) => void;
}

/** Opens the link to a server, and another one after its end, so often in a row as the options allow. */
export class Reconnector {
  readonly #address: McpServerAddress;
  readonly #options: ReconnectorOptions;
  #current: ServerLink | undefined;
  #opening: Promise<ServerLink> | undefined;
  /** Openings since the server answered a call, without the first one. */
  #reconnects = -1;
  #isClosed = false;

  constructor(address: McpServerAddress, options: ReconnectorOptions) {
    this.#address = address;
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The open link. Rejects with `McpError` if there cannot be one, and when the signal aborts. */
  async link(signal?: AbortSignal): Promise<ServerLink> {
    if (this.#isClosed) throw this.#closedError();
    if (this.#current?.isClosed === false) return this.#current;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    const link = await untilAborted(this.#opening, signal);
    if (link === undefined) throw signal?.reason;
    return link;
  }

  /** Reports that the server answered a call: it may be connected to again so often as at the beginning. */
  answered(): void {
    this.#reconnects = 0;
  }

  /** Whether a failed call was never sent, because the link had ended before it: only then can it be sent again. */
  wasNotSent(error: unknown): boolean {
    return !this.#isClosed && isJsonObject(error) && error["code"] === "NOT_CONNECTED";
  }

  /**
   * Closes a link whose server answered with status 404: it may no longer know the session, and the next call opens another link. The
   * failed call is not sent again: a proxy may answer so after the server has run it.
   */
  closeIfUnknown(link: ServerLink, error: unknown): void {
    if (isJsonObject(error) && error["status"] === 404) void link.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opening = await this.#opening?.catch(() => undefined);
    const current = this.#current ?? opening;
    this.#current = undefined;
    await current?.close();
  }

  async #open(): Promise<ServerLink> {
    const { maxReconnects, name, onLink } = this.#options;
    if (this.#reconnects >= maxReconnects) {
      throw new McpError(
        "connect-failed",
        `The MCP server ${name} has ended ${this.#reconnects + 1} times in a row without an answer, and is not connected to again. Find out why it ends; then call connectMcp again, or raise maxReconnects.`,
      );
    }
    this.#reconnects += 1;
    const link = await openLink(this.#address, this.#options);
    try {
      if (this.#isClosed) throw this.#closedError();
      onLink(link);
    } catch (error) {
      await link.close();
      throw error;
    }
    this.#current = link;
    return link;
  }

  #closedError(): McpError {
    return new McpError("closed", `The connection to the MCP server ${this.#options.name} is closed.`);
  }
}
