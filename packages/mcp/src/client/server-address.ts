import {
  isObject,
  optionsProblem,
  refuse,
  shownValue,
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

const commandForm: OptionForm = {
  expectation: "the name of a program",
  fits: (value) => typeof value === "string" && value !== "",
};

const stdioForms: OptionForms<StdioServer> = {
  command: commandForm,
  args: "texts",
  env: { expectation: "an object whose values are strings", fits: isObjectOfTexts },
  cwd: "string",
};

const httpForms: OptionForms<HttpServer> = {
  url: {
    expectation:
      "a URL that begins with http:// or https:// and has no user and no password, which belong in headers",
    fits: (value) => /^https?:\/\/(?![^/]*@)/.test(URL.parse(String(value))?.href ?? ""),
  },
  headers: {
    expectation: "an object whose values are strings, or a function that returns one",
    fits: (value) => typeof value === "function" || isObjectOfTexts(value),
  },
};

export const isHttp = (address: McpServerAddress): address is HttpServer => "url" in address;

/** Throws `BuildError` for a value that is not the address of a server. The message quotes no text of it, which may be secret. */
export function checkAddress(address: McpServerAddress): void {
  const problem = addressProblem(address);
  if (problem !== undefined) refuse(problem.replace(/got ".*/s, "got a string."));
}

function addressProblem(address: McpServerAddress): string | undefined {
  if (!isObject(address) || (address["url"] === undefined && address["command"] === undefined))
    return `connectMcp needs { command, args } or { url, headers } as its first argument, got ${shownValue(address)}.`;
  const problem =
    "url" in address
      ? optionsProblem("a server at a URL", address, httpForms)
      : optionsProblem("a server with a command", address, stdioForms);
  return problem?.message;
}
