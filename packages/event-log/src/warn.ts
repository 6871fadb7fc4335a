import type { LogNotice } from "./port.ts";

/** What Node, Deno and Bun have on the global object, and browsers do not. */
interface WithProcess {
  readonly process?: { readonly emitWarning?: (message: string, type: string) => void };
}

/** The default for notices: a warning of the process, where there is one. */
export function warn({ type, id, afterSeq, droppedBytes }: LogNotice): void {
  const where = `${JSON.stringify(id)} after record ${afterSeq}`;
  const { process } = globalThis as WithProcess;
  process?.emitWarning?.(`${type} in ${where}: ${droppedBytes} bytes left out`, "MooraLogNotice");
}
