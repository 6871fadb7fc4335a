import type { Question } from "@moora/agent";
import { loggedQuestions, openCallsOf } from "@moora/agent/internal";
import { unavailable, type HttpProblem } from "../problem.ts";
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
  const { open, decided } = await loggedQuestions(live.agent, live.session);
  const logged = new Set(open.map(({ digest }) => digest));
  const unlogged = unknown.filter((digest) => !logged.has(digest) && !decided.includes(digest));
  // Where the session runs, its sub-agents ask again by themselves.
  const awaited = unknown.filter(
    (digest) => unlogged.includes(digest) || (live.isOwner && logged.has(digest)),
  );
  await changeOf(clock, live, () => missingIn(live, awaited).length === 0);
  const left = unknownIn(live, unknown);
  return {
    logged: open.filter(({ digest }) => left.includes(digest)),
    missing: missingIn(live, unlogged),
  };
}

/**
 * Waits for the questions of answers. Returns those that the logs of sub-agents have. Throws `unavailable` if it is not known in time
 * whether one of those that are `required` is open. Default: all.
 */
export async function requireQuestions(
  context: Pick<ServerContext, "clock">,
  live: LiveSession,
  digests: readonly string[],
  required: readonly string[] = digests,
): Promise<readonly Question[]> {
  const { logged, missing } = await awaitQuestions(context, live, digests);
  const unclear = missing.find((digest) => required.includes(digest));
  if (unclear === undefined) return logged;
  throw unavailable(
    `The question ${JSON.stringify(unclear)} is not open. The call that may ask it is running. Retry.`,
  );
}

/** Throws `unavailable` for a question of a sub-agent without a log, which only the server can pass on that runs the session. */
export async function checkPassable(live: LiveSession, questions: readonly Question[]): Promise<void> {
  const below = questions.filter(({ path }) => path !== undefined);
  if (live.isOwner || below.length === 0) return;
  const { open, decided } = await loggedQuestions(live.agent, live.session);
  const logged = new Set([...decided, ...open.map(({ digest }) => digest)]);
  const calls = openCallsOf(live.session.current().reActContext.control);
  const isPassable = ({ digest, path = [] }: Question): boolean =>
    logged.has(digest) || !calls.some(({ id }) => id === path[0]);
  if (!below.every(isPassable)) throw subAgentUnlogged();
}

export const subAgentUnlogged = (): HttpProblem =>
  unavailable("The sub-agent has no log. Send its answer to the server that runs the session.");

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
  const stops = [
    live.listen({ onInput: check, onEvent: check, onReplaced: check, onEnded: resolve }),
    clock.after(questionWaitMs, resolve),
  ];
  check();
  try {
    await promise;
  } finally {
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
