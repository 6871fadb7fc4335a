import { effectsAt } from "@moora/agent-core-effects";
import { loopRuns, type AgentState } from "@moora/agent-core-state-machine";
import type { DurableSession, Session } from "../../../src/index.ts";
import type { Transcript } from "./transcripts.ts";
import { turn, type VirtualClock } from "./virtual-clock.ts";

/** When nothing is done any more, and a human or the clock is waited for, or nobody. */
export async function quiet(session: Pick<Session, "current">, isOver = () => false): Promise<void> {
  do await turn();
  while (!isOver() && Object.values(effectsAt(session.current())).some(({ type }) => isWork(type)));
  await turn();
}

const isWork = (type: string): boolean => type !== "ask-human" && type !== "wait-until";

const nextDue = (state: AgentState): number | undefined =>
  Object.values(effectsAt(state))
    .flatMap((effect) => (effect.type === "wait-until" ? [effect.due] : []))
    .toSorted((a, b) => a - b)[0];

/** Says, decides and waits until a transcript is at its end; goes on wherever the session stands. */
export async function driveToEnd(
  session: DurableSession,
  { says, decide }: Pick<Transcript, "says" | "decide">,
  clock: VirtualClock,
  isOver = () => false,
): Promise<void> {
  for (;;) {
    await quiet(session, isOver);
    if (isOver()) return;
    const state = session.current();
    const [question] = session.questions();
    const due = nextDue(state);
    const said = state.messages.filter(({ role }) => role === "user").length;
    const next = loopRuns(state) ? undefined : says[said];
    if (question !== undefined) await session.decide(question, decide(question), "ada");
    else if (due !== undefined) await clock.advanceTo(due);
    else if (next !== undefined) await session.send(next);
    else return;
  }
}
