import type { AgentState, DeadlinePassedInput, Schedule } from "@moora/agent-core-state-machine";
import { isScheduleKey, waitAt } from "@moora/agent-core-state-machine/internal";
import type { WaitUntilEffect } from "../effect.ts";
import { refuse } from "../errors/build-error.ts";
import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import { isRetryWait } from "../open-effects.ts";
import { isAborted, onAbort } from "./abort.ts";
import { dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import type { AgentParts, EffectHost } from "./host.ts";
import { setLongTimeout } from "./long-timeout.ts";

/** Waits until an effect is due, and dispatches that its deadline has passed. */
export function* waitUntil(
  effect: WaitUntilEffect,
  state: AgentState,
  host: EffectHost,
): EffectProgram<void> {
  const { clock, parts } = host;
  const { key, due } = effect;
  // A retry and a schedule keep the process alive; a question does not, since another process may answer it.
  const keepsAlive = isRetryWait(effect, state) || isScheduleKey(key);
  if (due > clock.now()) yield* waitFor(timePassed(due, host, keepsAlive));
  if (isAborted(host)) return;
  const passed = yield* waitFor(deadlinePassed(key, state, parts, clock.now()));
  if (!isAborted(host)) yield* dispatch(passed);
}

/** How late a schedule may be that skips missed times: longer than another process needs to take over. */
const missedAfterMs = 60_000;

/** The last time that a `Date` can have. */
const lastTime = 8.64e15;

/** The input that says that a wait is over. That of a schedule has its next due time, or why it has none. */
export function deadlinePassed(
  key: string,
  state: AgentState,
  parts: Pick<AgentParts, "nextCron">,
  now: number,
): DeadlinePassedInput | Promise<DeadlinePassedInput> {
  const passed = { type: "deadline-passed", key, timestamp: now } as const;
  const wait = waitAt(state, key);
  if (wait?.type !== "schedule") return passed;
  const { schedule, due } = wait;
  const isMissed = schedule.missed === "skip" && now - due > missedAfterMs;
  const passedWith = (found: Pick<DeadlinePassedInput, "next" | "problem">): DeadlinePassedInput => ({
    ...passed,
    ...found,
    ...(isMissed ? { missed: true } : {}),
  });
  const withNext = (next: number | undefined): DeadlinePassedInput =>
    passedWith(next === undefined || next > lastTime ? {} : { next });
  const withProblem = (error: unknown): DeadlinePassedInput => {
    if (!(error instanceof RangeError)) throw error;
    return passedWith({ problem: errorText(error) });
  };
  try {
    const next = nextDue(schedule, parts, now);
    return isPromise(next) ? next.then(withNext, withProblem) : withNext(next);
  } catch (error) {
    return withProblem(error);
  }
}

/** The first due time after now and after the current one; undefined if there is none. */
function nextDue(
  { when, due }: Schedule,
  { nextCron }: Pick<AgentParts, "nextCron">,
  now: number,
): ReturnType<NonNullable<AgentParts["nextCron"]>> {
  if ("at" in when) return undefined;
  if ("everyMs" in when)
    return due + when.everyMs * (Math.max(0, Math.floor((now - due) / when.everyMs)) + 1);
  if (nextCron === undefined) refuse("This agent has no nextCron. Create it with defineAgent.");
  return nextCron(when.cron, when.timeZone, Math.max(due, now));
}

function timePassed(due: number, host: EffectHost, keepsAlive: boolean): Promise<void> {
  const { clock } = host;
  return new Promise((resolve) => {
    let cancelTimer = (): void => undefined;
    const stopListening = onAbort(host, () => {
      cancelTimer();
      resolve();
    });
    const wait = (): void => {
      const left = due - clock.now();
      if (left > 0) cancelTimer = setLongTimeout(clock, left, wait, { keepsAlive });
      else {
        stopListening();
        resolve();
      }
    };
    if (!isAborted(host)) wait();
  });
}
