import { effectsAt } from "@moora/agent-core-effects";
import { isLoopRunning, type AgentState } from "@moora/agent-core-state-machine";
import type { DurableSession, Session } from "@moora/agent";
import type { Deed, Transcript } from "./transcripts/transcript.ts";
import { turn, type TestClock } from "../test-clock.ts";

/** Resolves when nothing runs any more: the session waits for a reviewer or the clock, or is done. */
export async function quiet(
  session: Pick<Session, "current">,
  isOver = () => false,
  atEachTurn: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  do {
    await turn();
    if (!isOver()) await atEachTurn();
  } while (!isOver() && works(session.current()));
  await turn();
}

/** Whether work is running, other than a wait for a human or the clock. */
const works = (state: AgentState): boolean =>
  Object.values(effectsAt(state)).some(({ type }) => type !== "ask-human" && type !== "wait-until");

const nextDue = (state: AgentState): number | undefined =>
  Object.values(effectsAt(state))
    .flatMap((effect) => (effect.type === "wait-until" ? [effect.due] : []))
    .toSorted((a, b) => a - b)[0];

/** The next message for a settled session: one that was not sent yet, apart from those that are sent at a certain stage. */
function nextToSay(
  { messages }: AgentState,
  { says, deeds = [] }: Course,
): Transcript["says"][number] | undefined {
  const apart = new Set(deeds.map(({ says: text }) => text));
  return says[messages.filter(({ role, content }) => role === "user" && !apart.has(content)).length];
}

/** Does what people do at moments of their own, when these have come. */
async function doDeeds(
  session: DurableSession,
  deeds: readonly Deed[],
  clock: TestClock,
  done: Set<string>,
): Promise<void> {
  for (const deed of deeds) {
    const view = session.current();
    if (done.has(deed.name)) continue;
    const { isDone = ({ messages }) => messages.some(({ content }) => content === deed.says) } = deed;
    const isOld = isDone(view);
    if (!isOld && !deed.when(view)) continue;
    if (!isOld) await deed.act({ session, clock });
    done.add(deed.name);
  }
}

/** The actions of people in a conversation. */
export type Course = Pick<Transcript, "says" | "decide"> & Partial<Pick<Transcript, "deeds">>;

/** Sends, decides and waits until a transcript is at its end; continues from any state of the session. */
export async function driveToEnd(
  session: DurableSession,
  course: Course,
  clock: TestClock,
  isOver = () => false,
  done = new Set<string>(),
): Promise<void> {
  const { decide, deeds = [] } = course;
  // A listener shows the questions, also when the process has died before they were decided.
  session.onEvent(() => undefined);
  for (;;) {
    await quiet(session, isOver, () => doDeeds(session, deeds, clock, done));
    if (isOver()) return;
    const state = session.current();
    // What was appended in the last turn may have set something in motion.
    if (works(state)) continue;
    const questions = session.questions();
    const decided = questions.flatMap((question) => {
      const decision = decide(question, questions);
      return decision === undefined ? [] : [{ question, decision }];
    })[0];
    const due = nextDue(state);
    const next = isLoopRunning(state) ? undefined : nextToSay(state, course);
    if (decided !== undefined) await session.decide(decided.question, decided.decision, "ada");
    else if (due !== undefined) await clock.advanceToAsync(due);
    else if (next !== undefined) await session.send(next);
    else return;
  }
}
