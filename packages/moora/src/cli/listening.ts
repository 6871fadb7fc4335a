import { UsageError } from "./usage-error.ts";

/** The port that an option names; 0 is any free one. Throws `UsageError`. */
export function portOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port must be an integer from 0 to 65535, got "${text}".`, "");
}

/** An address that cannot be bound; undefined for any other error. */
export function bindError(error: unknown, hostname: string, port: number): UsageError | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code === "EADDRINUSE")
    return new UsageError(`Port ${port} of ${hostname} is in use.`, "Name another one with --port.");
  return new UsageError(`Cannot listen on ${hostname}, port ${port}: ${String(error.code)}.`, "");
}
