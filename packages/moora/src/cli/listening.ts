import { UsageError } from "./usage-error.ts";

/** An address that cannot be bound; undefined for any other error. */
export function bindError(error: unknown, hostname: string, port: number): UsageError | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code === "EADDRINUSE")
    return new UsageError(`Port ${port} of ${hostname} is in use.`, "Name another one with --port.");
  return new UsageError(`Cannot listen on ${hostname}, port ${port}: ${String(error.code)}.`, "");
}
