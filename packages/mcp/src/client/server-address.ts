import {
  checkOptions,
  isObject,
  refuse,
  unquoted,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";

/** A server that is started as a process of this machine, and speaks over its standard input and output. */
export interface StdioServer {
  /** The program, as it is found in PATH, without arguments. No shell reads it. */
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

const isObjectOfTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === "string");

const isListOfTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === "string");

/** A form whose values no message quotes. */
const secret = (expectation: string, fits: OptionForm["fits"]): OptionForm => ({
  expectation,
  fits,
  isSecret: true,
});

const stdioForms: OptionForms<StdioServer> = {
  command: {
    expectation: "the name of a program",
    fits: (value) => typeof value === "string" && value !== "",
  },
  args: secret("a list of strings", isListOfTexts),
  env: secret("an object whose values are strings", isObjectOfTexts),
  cwd: "string",
};

const httpForms: OptionForms<HttpServer> = {
  url: secret(
    "a URL that begins with http:// or https:// and has no user and no password, which belong in headers",
    (value) => /^https?:\/\/(?![^/]*@)/.test(URL.parse(String(value))?.href ?? ""),
  ),
  headers: secret(
    "an object whose values are strings, or a function that returns one",
    (value) => typeof value === "function" || isObjectOfTexts(value),
  ),
};

export const isHttp = (address: McpServerAddress): address is HttpServer => "url" in address;

/** Throws `BuildError` for a value that is not the address of a server. */
export function checkAddress(address: McpServerAddress): void {
  if (!isObject(address) || (address["url"] === undefined && address["command"] === undefined)) {
    return refuse(
      `connectMcp needs { command, args } or { url, headers } as its first argument, got ${unquoted(address)}.`,
    );
  }
  if ("url" in address) checkOptions("a server at a URL", address, httpForms);
  else checkOptions("a server with a command", address, stdioForms);
}
