import { MooraError } from "@moora/agent-core-effects";

/** The codes of Node for an address that cannot be bound, each with what is wrong and what to do. */
const problems: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} of ${host} is in use. Choose another port, or 0 for any free one.`,
  EACCES: (host, port) => `This process may not listen on port ${port} of ${host}. Choose a port above 1023.`,
  EADDRNOTAVAIL: (host) =>
    `${host} is not an address of this machine. Choose another one, such as 127.0.0.1.`,
  ENOTFOUND: (host) => `${host} is not a known name. Choose an address of this machine, such as 127.0.0.1.`,
};

/** The error of a server that cannot listen on its address. `code` is that of Node, such as `EADDRINUSE` for a port in use. */
export class ListenError extends MooraError {
  override readonly name = "ListenError";
  readonly code: string;

  /** `cause` is the error of Node. */
  constructor(host: string, port: number, cause: unknown) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    const problem = Object.hasOwn(problems, code) ? problems[code]?.(host, port) : undefined;
    super(problem ?? `Cannot listen on port ${port} of ${host}: ${String(cause)}`, { cause });
    this.code = code;
  }
}
