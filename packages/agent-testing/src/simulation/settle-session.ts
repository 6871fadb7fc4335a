import { noUsage, type LlmOutcome } from "@moora/llm";
import { isLoopRunning, isPaused } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import { simulatedOrigin } from "../laws/request-laws.ts";
import { hasQuestionBelow } from "./invariants.ts";
import { check } from "./invariant-broken.ts";
import type { Pending } from "./pending.ts";
import { nextTurn } from "./finish-work.ts";
import type { SimWorld } from "./sim-world.ts";

/** After the faults stop, a session settles within this number of steps. */
const stepsToRest = 400;

/** Far enough for every wait, also after the clock was set back. */
const longWaitMs = 4_000_000;

/** How often time passes without new work before a session counts as at rest: what failed is tried again by then. */
const restsNeeded = 2;

/** V14: without faults, everything that was begun ends, or waits for a person, and the next message is accepted. */
export async function settleSession(world: SimWorld): Promise<void> {
  world.record("the faults stop");
  for (const { log } of world.hosts) log.heal();
  let rests = 0;
  for (let step = 0; step < stepsToRest; step += 1) {
    await nextTurn();
    if (world.owner === undefined) {
      await world.open("run", true);
      continue;
    }
    if (isPaused(world.state)) {
      await resume(world);
      continue;
    }
    const pending = world.pending.find(canEnd);
    if (pending !== undefined) {
      world.take(pending);
      end(pending);
      rests = 0;
      continue;
    }
    if (!isWaiting(world)) rests += 1;
    // At rest: no work has come up in all this time.
    if (rests > restsNeeded) break;
    world.time.advance(longWaitMs);
  }
  if (world.failure !== undefined) throw world.failure;
}

/** A session that is resumed wants again all that it wanted before its pause: otherwise it does not settle. */
async function resume(world: SimWorld): Promise<void> {
  const { owner } = world;
  if (owner?.session === undefined) return;
  world.record("a resume");
  await world.finished(owner.session.resume(), owner);
}

/** V14: a settled session accepts the next message. */
export async function takesMessage(world: SimWorld): Promise<void> {
  const { owner } = world;
  if (owner?.session === undefined) return;
  const sent = await world.finished(owner.session.send("Are you there?"), owner);
  check(
    "value" in sent,
    "V14",
    () => `a message is refused although the faults stopped: ${"error" in sent ? String(sent.error) : ""}`,
  );
}

/** An executed tool ends when it has returned. */
const canEnd = (pending: Pending): boolean =>
  pending.type !== "sub-agent" &&
  (pending.type !== "tool" || !pending.executes || pending.returned !== undefined || pending.signal.aborted);

function end(pending: Pending): void {
  switch (pending.type) {
    case "append":
      return pending.finish();
    case "llm":
      return pending.answer(lastAnswer(pending.request.answerSchema));
    case "tool":
      return pending.answer(pending.returned ?? { isSuccess: true, content: "ok" });
    case "probe":
      return pending.answer("unknown");
    case "sub-agent":
      return undefined;
  }
}

const lastAnswer = (schema: unknown): LlmOutcome => ({
  ok: true,
  turn: {
    origin: simulatedOrigin,
    parts: [{ type: "text", text: schema === undefined ? "That is all there is to say about it." : "null" }],
  },
  model: "simulated",
  usage: { ...noUsage, inputTokens: 1, outputTokens: 1 },
  finish: { unified: "stop", raw: "stop" },
});

/** Whether something is waited for that only time brings. */
function isWaiting({ state, owner }: SimWorld): boolean {
  if (!isLoopRunning(state) || hasQuestionBelow(owner)) return false;
  const { control } = state.reActContext;
  return (
    control.type !== "WaitingForHuman" || !openCallsOf(control).some(({ status }) => status.type === "asking")
  );
}
