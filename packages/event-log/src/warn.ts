import type { LogNotice } from "./port.ts";

/** What happens to notices that nobody asked for: a warning of the process. */
export function warn({ type, id, afterSeq, droppedBytes }: LogNotice): void {
  const where = `${JSON.stringify(id)} after record ${afterSeq}`;
  process.emitWarning(`${type} in ${where}: ${droppedBytes} bytes dropped`, "MooraLogNotice");
}
