import type { Question } from "@moora/agent";
import { loggedQuestions, openCallsOf } from "@moora/agent/internal";
import { unavailable } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { LiveSession } from "../sessions/live-session.ts";

/** How long an answer waits for its question, in milliseconds. */
const questionWaitMs = 5_000;

/** The questions of answers that a session does not show as open. */
interface AwaitedQuestions {
  /** Those that the logs of sub-agents have as open, and that can be answered there. */
  readonly logged: readonly Question[];
  /** The digests of those of which it is not known whether they are open: a sub-agent may still ask them. */
  readonly missing: readonly string[];
}

/**
 * Waits until the questions with these digests are open, as far as a sub-agent may still ask them: one whose server was restarted has to
 * run again first, and the server that runs the session has to send what its sub-agents ask. A question that was open before is closed,
 * and not waited for.
 */
export async function awaitQuestions(
  { clock }: Pick<ServerContext, "clock">,
  live: LiveSession,
  digests: readonly string[],
): Promise<AwaitedQuestions> {
  const unknown = unknownIn(live, digests);
  if (unknown.length === 0) return { logged: [], missing: [] };
  const [own, below] = await Promise.all([live.session.history(), loggedQuestions(live.agent, live.session)]);
  const open = below.open.filter(({ digest }) => unknown.includes(digest));
  const closed = new Set(
    own
      .flatMap(({ input }) => (input.type === "tool-call-decided" ? [input.digest] : []))
      .concat(below.decided),
  );
  const isOpen = (digest: string): boolean => open.some((question) => question.digest === digest);
  const wanted = unknown.filter((digest) => isOpen(digest) || !closed.has(digest));
  // Here its sub-agent asks again by itself.
  const awaited = live.isOwner ? wanted : wanted.filter((digest) => !isOpen(digest));
  await changeOf(clock, live, () => missingIn(live, awaited).length === 0);
  const left = unknownIn(live, wanted);
  return {
    logged: open.filter(({ digest }) => left.includes(digest)),
    missing: missingIn(
      live,
      wanted.filter((digest) => !isOpen(digest)),
    ),
  };
}

/**
 * Waits for the questions of answers. Returns those that the logs of sub-agents have. Throws `unavailable` if it is not known in time
 * whether one of them is open; not for those of `others`.
 */
export async function requireQuestions(
  context: Pick<ServerContext, "clock">,
  live: LiveSession,
  digests: readonly string[],
  others: readonly string[] = [],
): Promise<readonly Question[]> {
  const { logged, missing: all } = await awaitQuestions(context, live, [...digests, ...others]);
  const missing = all.find((digest) => digests.includes(digest));
  if (missing === undefined) return logged;
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

/** Those that may be open: a call is running that may ask them, and they are not shown as open. */
function unknownIn(live: LiveSession, digests: readonly string[]): readonly string[] {
  const { control } = live.session.current().reActContext;
  if (!openCallsOf(control).some(({ status }) => status.type === "running" || status.type === "queued"))
    return [];
  const open = new Set(live.stream.questions.map(({ digest }) => digest));
  return digests.filter((digest) => !open.has(digest) && !(live.isOwner && live.hasAsked(digest)));
}

/** Those that are not open, were not open before, and may still be asked. */
const missingIn = (live: LiveSession, digests: readonly string[]): readonly string[] =>
  unknownIn(live, digests).filter((digest) => !live.hasAsked(digest));
