import { safeErrorListener } from "@moora/agent/internal";
import { ClientError } from "./client-error.ts";
import { RetryWait } from "./retry-wait.ts";
import { Unreachable } from "./server-api.ts";
import type { ServerSettings } from "./server-options.ts";

/** One attempt of a request. `mayBeApplied`: the server may have applied an attempt before it, as it has not refused that one. */
type Attempt<Value> = (signal: AbortSignal, mayBeApplied: boolean) => Promise<Value>;

/**
 * Makes attempts until the server has answered one. Reports once that it waits for a server that cannot be reached or is busy. Rejects
 * with the reason of `signal`, and with what an attempt rejects with, unless that is `Unreachable`.
 */
export async function untilAnswered<Value>(
  settings: ServerSettings,
  attempt: Attempt<Value>,
): Promise<Value> {
  const { clock, signal = new AbortController().signal } = settings;
  const wait = new RetryWait(clock, settings);
  const wake = (): void => wait.wake();
  signal.addEventListener("abort", wake);
  try {
    for (let isReported = false, mayBeApplied = false; ; isReported = true) {
      signal.throwIfAborted();
      try {
        return await attempt(signal, mayBeApplied);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Unreachable)) throw error;
        if (!isReported) reportWaiting(settings, error);
        // A listener may have given up.
        signal.throwIfAborted();
        mayBeApplied ||= !error.isRefusal;
        await wait.wait(wait.failed(error.retryAfterMs));
      }
    }
  } finally {
    signal.removeEventListener("abort", wake);
  }
}

/** The caller has nothing yet that it could ask: an address with a mistake would be waited for in silence. */
function reportWaiting({ caller, url, onError }: ServerSettings, failure: Unreachable): void {
  const report = safeErrorListener(onError && ((error) => onError({ source: "log", error })));
  const what = `${serverAt(url)} ${failure.problem}.`;
  const advice = failure.isAnswered
    ? `${caller} tries again until it succeeds: pass signal to give up.`
    : `${caller} tries again until it can: check url, or pass signal to give up.`;
  report(new ClientError("Unreachable", `${what} ${advice}`, { cause: failure.cause }));
}

/** A server, as the beginning of a sentence about it. */
export const serverAt = (url: string): string => `The server ${url === "" ? "of the page" : url}`;

/** The error for an answer that a server of this protocol does not give. `what` is what it lacks. */
export const otherServer = (url: string, what: string): ClientError =>
  new ClientError(
    "Unsupported",
    `${serverAt(url)} answers without ${what}: it is not a server of @moora/server, or url lacks its base path.`,
  );

/**
 * An answer that fits. Throws what `otherwise` returns for another one. What the server of this protocol sends is not checked further.
 */
export function answerWith<Answer extends object>(
  answer: unknown,
  fits: (answer: Partial<Answer>) => boolean,
  otherwise: () => ClientError,
): Answer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const given = Object(answer) as Answer;
  if (!fits(given)) throw otherwise();
  return given;
}
