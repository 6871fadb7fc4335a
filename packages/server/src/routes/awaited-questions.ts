import { openCallsOf } from "@moora/agent/internal";
import { unavailable } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { LiveSession } from "../sessions/live-session.ts";

/** How long an answer waits for its question, in milliseconds. */
const questionWaitMs = 5_000;

/**
 * Waits until the questions with these digests are open, as far as a sub-agent may still ask them: one whose server was restarted has to
 * run again first. Returns the digests that it has waited for in vain. A question that was open before is closed, and not waited for.
 */
export async function awaitQuestions(
  { clock }: Pick<ServerContext, "clock">,
  live: LiveSession,
  digests: readonly string[],
): Promise<readonly string[]> {
  if (missingIn(live, digests).length === 0) return [];
  const decided = new Set(
    (await live.session.history()).flatMap(({ input }) =>
      input.type === "tool-call-decided" ? [input.digest] : [],
    ),
  );
  const wanted = digests.filter((digest) => !decided.has(digest));
  await changeOf(clock, live, () => missingIn(live, wanted).length === 0);
  return missingIn(live, wanted);
}

/** Waits for the questions of answers. Throws `unavailable` if one of them is not asked in time. */
export async function requireQuestions(
  context: Pick<ServerContext, "clock">,
  live: LiveSession,
  digests: readonly string[],
): Promise<void> {
  const [missing] = await awaitQuestions(context, live, digests);
  if (missing === undefined) return;
  throw unavailable(
    `The question ${JSON.stringify(missing)} is not open. The call that may ask it is running. Retry.`,
  );
}

/** Resolves when a condition is met, when the session ends, or when the time is over. */
async function changeOf(
  clock: ServerContext["clock"],
  live: LiveSession,
  isMet: () => boolean,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    if (isMet()) resolve();
  };
  const listen = (): readonly (() => void)[] => {
    const { session, stream } = live;
    return [session.onInput(check), session.onEvent(check), stream.onEvent(check)];
  };
  let listening = listen();
  const stopListening = (): void => {
    for (const stop of listening) stop();
  };
  const replaced = (): void => {
    stopListening();
    listening = listen();
    check();
  };
  const stops = [live.onReplaced(replaced), live.onEnded(resolve), clock.after(questionWaitMs, resolve)];
  check();
  try {
    await promise;
  } finally {
    stopListening();
    for (const stop of stops) stop();
  }
}

/** Those that are not open, were not open before, and may still be asked. */
function missingIn(live: LiveSession, digests: readonly string[]): readonly string[] {
  const { control } = live.session.current().reActContext;
  if (!openCallsOf(control).some(({ status }) => status.type === "running" || status.type === "queued"))
    return [];
  const open = new Set(live.stream.questions.map(({ digest }) => digest));
  return digests.filter((digest) => !open.has(digest) && !live.hasAsked(digest));
}
