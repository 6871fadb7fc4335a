import type { LogNotice } from "./port.ts";

/** The part of the global object that Node.js, Deno and Bun have and browsers do not. */
interface WithProcess {
  readonly process?: { readonly emitWarning?: (message: string, type: string) => void };
}

/** The default handler for notices: emits a process warning; does nothing in browsers. */
export function warn({ type, id, afterSeq, droppedBytes }: LogNotice): void {
  const where = `${JSON.stringify(id)} after record ${afterSeq}`;
  const { process } = globalThis as WithProcess;
  process?.emitWarning?.(`${type} in ${where}: ${droppedBytes} bytes skipped`, "MooraLogNotice");
}
