import type { Tool } from "../tool/define-tool.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import type { EffectHost } from "./host.ts";
import { setLongTimeout } from "./long-timeout.ts";

/**
 * The outcome of a tool, or a failure on time-out and when the call is no longer wanted. A later result of the tool is
 * dropped. A synchronous tool has no timer.
 */
export async function withTimeout<Outcome>(
  running: Promise<Outcome>,
  { definition }: Tool,
  { clock, limits, signal, synchronous }: EffectHost,
  late: AbortController,
): Promise<Outcome | ToolOutcome> {
  if (synchronous === true) return await running;
  const timeoutMs = definition.timeoutMs ?? limits.toolTimeoutMs;
  const ended = Promise.withResolvers<ToolOutcome>();
  const cancelTimer = setLongTimeout(clock, timeoutMs, () => {
    const error = `The tool did not answer within ${timeoutMs} ms. It may have had its effect.`;
    late.abort(new DOMException(error, "TimeoutError"));
    ended.resolve({ isSuccess: false, error, code: "timeout" });
  });
  const stop = (): void => ended.resolve({ isSuccess: false, error: "Cancelled.", code: "cancelled" });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([running, ended.promise]);
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", stop);
  }
}
