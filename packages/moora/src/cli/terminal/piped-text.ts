import type { CliHost } from "../cli-host.ts";

/** The content of standard input. */
export type PipedText =
  | { readonly type: "text"; readonly text: string; readonly isCut: boolean }
  /** It was open for the whole waiting time, and sent nothing. */
  | { readonly type: "silent" }
  /** `signal` was aborted. */
  | { readonly type: "canceled" }
  | { readonly type: "failed"; readonly reason: string };

export interface ReadOptions {
  /** How long to wait for the first byte, in milliseconds. Default: no limit. */
  readonly firstByteMs?: number;
  /** Reading stops after this many characters. Default: no limit. */
  readonly maxCharacters?: number;
  readonly signal: AbortSignal;
}

/** Reads standard input to its end. Never rejects. */
export async function readPipedText(
  { stdin, clock }: Pick<CliHost, "stdin" | "clock">,
  { firstByteMs, maxCharacters = Number.POSITIVE_INFINITY, signal }: ReadOptions,
): Promise<PipedText> {
  const done = Promise.withResolvers<PipedText>();
  const decoder = new TextDecoder();
  let text = "";
  const cancelTimer =
    firstByteMs === undefined
      ? (): void => undefined
      : clock.after(firstByteMs, () => done.resolve({ type: "silent" }));
  const onData = (chunk: Uint8Array | string): void => {
    cancelTimer();
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > maxCharacters)
      done.resolve({ type: "text", text: text.slice(0, maxCharacters).toWellFormed(), isCut: true });
  };
  const onEnd = (): void => done.resolve({ type: "text", text: text + decoder.decode(), isCut: false });
  const onError = (error: Error): void => done.resolve({ type: "failed", reason: error.message });
  const onAbort = (): void => done.resolve({ type: "canceled" });
  if (stdin.readableEnded || stdin.destroyed) onEnd();
  stdin.on("data", onData).on("end", onEnd).on("error", onError);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await done.promise;
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", onAbort);
    stdin.off("data", onData).off("end", onEnd).off("error", onError).pause();
  }
}
