import type { SimulatedSession } from "./action.ts";
import { InvariantBroken } from "./invariant-broken.ts";
import type { NextAction, SessionResult } from "./simulate-session.ts";
import { simplerActions } from "./actions.ts";

/** Simulates a session again, as it is given. */
export type Replay = (session: SimulatedSession) => Promise<SessionResult>;

/** Gives the actions of a session one after the other. */
export function actionsOf({ actions }: SimulatedSession): NextAction {
  let at = 0;
  return () => Promise.resolve(actions[(at += 1) - 1]);
}

/**
 * What two sessions share that fail in the same way: a promise of the user's by its name, a law or an invariant of the
 * kit by its words, without numbers and values.
 */
export function kindOfFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { name, message } = failure;
  if (failure instanceof InvariantBroken && !/^V\d+$/.test(failure.invariant))
    return `${name} ${failure.invariant}`;
  return `${name} ${message
    .replaceAll(/[{[$].*/g, "")
    .replaceAll(/\d+/g, "#")
    .slice(0, 120)}`;
}

/**
 * Shortens a failing session while it keeps failing in the same way: leaves out actions, then makes those that are left
 * as plain as they can be, then pairs of actions, again and again until nothing helps. Simulates at most `attempts` sessions.
 */
export async function shrinkSession(
  failing: SessionResult,
  replay: Replay,
  attempts: number = 600,
): Promise<SessionResult> {
  const kind = kindOfFailure(failing.failure);
  const search = { best: failing, left: attempts };
  const fails = async (session: SimulatedSession): Promise<boolean> => {
    if (search.left <= 0) return false;
    search.left -= 1;
    const result = await replay(session);
    if (result.failure === undefined || kindOfFailure(result.failure) !== kind) return false;
    search.best = result;
    return true;
  };
  let last: SessionResult | undefined;
  while (last !== search.best && search.left > 0) {
    last = search.best;
    await leaveOut(() => search.best.session, fails);
    await simplify(() => search.best.session, fails);
    if (last === search.best) await leaveOutPairs(() => search.best.session, fails);
  }
  return search.best;
}

type Fails = (session: SimulatedSession) => Promise<boolean>;

async function leaveOut(best: () => SimulatedSession, fails: Fails): Promise<void> {
  for (let size = Math.ceil(best().actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = best().actions.length - size; at >= 0; at -= size) {
      const { actions } = best();
      const from = Math.min(at, Math.max(0, actions.length - size));
      await fails({ ...best(), actions: actions.toSpliced(from, size) });
    }
  }
}

/** Two actions that only make sense together, as a stop and what follows it. */
async function leaveOutPairs(best: () => SimulatedSession, fails: Fails): Promise<void> {
  for (let second = best().actions.length - 1; second > 0; second -= 1) {
    for (let first = second - 1; first >= 0; first -= 1) {
      const actions = best().actions.filter((_, index) => index !== first && index !== second);
      if (await fails({ ...best(), actions })) return;
    }
  }
}

async function simplify(best: () => SimulatedSession, fails: Fails): Promise<void> {
  for (const key of ["asyncAppends", "approvesAll"] as const) {
    if (best()[key] === true) {
      const { [key]: _, ...plain } = best();
      await fails(plain);
    }
  }
  for (const key of Object.keys(best().config ?? {})) {
    await fails({
      ...best(),
      config: Object.fromEntries(Object.entries(best().config ?? {}).filter(([name]) => name !== key)),
    });
  }
  for (let at = 0; at < best().actions.length; at += 1) {
    const action = best().actions[at];
    if (action === undefined) continue;
    for (const simpler of simplerActions(action)) {
      if (await fails({ ...best(), actions: best().actions.with(at, simpler) })) {
        // The simpler one may become simpler still.
        at -= 1;
        break;
      }
    }
  }
}
