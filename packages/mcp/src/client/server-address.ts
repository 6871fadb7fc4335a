import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkOptionNames, type OptionNames } from "../check-options.ts";

/** A server that is started as a process of this machine, and speaks over its standard input and output. */
export interface StdioServer {
  /** The program, as it is found in PATH. No shell reads it. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the few variables that every server gets, such as PATH and HOME; no other variable of this process is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder. Default: that of this process. */
  readonly cwd?: string;
}

/** A server at a URL, which speaks streamable HTTP. */
export interface HttpServer {
  readonly url: string | URL;
  /** Headers of every request, such as `Authorization`; a function is called for each request. */
  readonly headers?: ServerHeaders | (() => ServerHeaders | Promise<ServerHeaders>);
}

/** Headers by name. */
export type ServerHeaders = Readonly<Record<string, string>>;

/** Where a server is. */
export type McpServerAddress = StdioServer | HttpServer;

const stdioNames: OptionNames<StdioServer> = { command: true, args: true, env: true, cwd: true };
const httpNames: OptionNames<HttpServer> = { url: true, headers: true };

export const isHttp = (address: McpServerAddress): address is HttpServer => "url" in address;

/** Throws `BuildError` for a value that is not the address of a server. */
export function checkAddress(address: McpServerAddress): void {
  if (typeof address !== "object" || address === null || !("url" in address || "command" in address)) {
    return refuse(
      `connectMcp needs { command, args } or { url, headers } as its first argument, got ${shownValue(address)}.`,
    );
  }
  if (isHttp(address)) {
    checkOptionNames("a server at a URL", address, httpNames);
    const protocol = URL.parse(String(address.url))?.protocol;
    if (protocol !== "http:" && protocol !== "https:") {
      refuse(
        `url must be a URL that begins with http:// or https://, got ${shownValue(String(address.url))}.`,
      );
    }
    return;
  }
  checkOptionNames("a server with a command", address, stdioNames);
  if (typeof address.command !== "string" || address.command === "")
    refuse(`command must be the name of a program, got ${shownValue(address.command)}.`);
  const { args } = address;
  if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === "string")))
    refuse(`args must be a list of strings, got ${shownValue(args)}.`);
}
