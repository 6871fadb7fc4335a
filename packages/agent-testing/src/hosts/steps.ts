import type { AgentInput, Decision } from "@moora/agent";
import { caseSession, hasEnded, hasQuestion, witnessSession, type CaseRun } from "./case-run.ts";
import { HostNotConforming, type HostStep } from "./host-case.ts";
import { ignoredInputs, refusedInputs } from "./inapplicable-inputs.ts";
import type { WorkMoment } from "./world.ts";

/** Posts a message of the user, which must apply. `elsewhere`: from another process. */
export const ask =
  (text: string, from?: "elsewhere"): HostStep =>
  async (run, isAgain) => {
    if (!isAgain) run.asked += 1;
    // A repeated message of a process that died has the id of the first, and may have been accepted already.
    const hasApplied = await run.host.post(caseSession, run.message(text), from);
    if (!hasApplied && !isAgain) throw new HostNotConforming(`The message "${text}" did not apply.`);
  };

/** Posts two messages at the same time, the second one from another process. Both must apply. */
export const askBoth =
  (here: string, elsewhere: string): HostStep =>
  async (run) =>
    void (await Promise.all([ask(here)(run, false), ask(elsewhere, "elsewhere")(run, false)]));

/** Posts one message this number of times at once, the last time from `from`. Exactly one must apply. */
export const askAtOnce =
  (text: string, times: number, from?: "elsewhere"): HostStep =>
  async (run) => {
    run.asked += 1;
    await postAtOnce(run, run.message(text), times, from);
  };

/** Decides the open question this number of times at once. Exactly one decision must apply. */
export const decide =
  (decision: Decision, times = 1): HostStep =>
  async (run) =>
    await postAtOnce(run, await run.decision(decision), times);

async function postAtOnce(
  { host }: CaseRun,
  input: AgentInput,
  times: number,
  from?: "elsewhere",
): Promise<void> {
  const posts = Array.from({ length: times }, (_, index) =>
    host.post(caseSession, input, ...(from !== undefined && index === times - 1 ? [from] : [])),
  );
  const applied = (await Promise.all(posts)).filter((hasApplied) => hasApplied).length;
  if (applied !== 1)
    throw new HostNotConforming(`Of ${times} equal inputs of type ${input.type}, ${applied} applied.`);
}

/** Posts inputs that do not apply to a session whose loop has ended: none may be reported as applied. */
export const postIgnored: HostStep = async (run) => {
  for (const [what, input] of Object.entries(ignoredInputs(run.now(), `m${run.asked}`))) {
    if (await run.host.post(caseSession, input))
      throw new HostNotConforming(`${what} does not apply, and the host reports that it has.`);
  }
};

/** Posts inputs that no caller may post: each must be rejected, or reported as not applied. */
export const postRefused: HostStep = async (run) => {
  for (const [what, input] of Object.entries(refusedInputs(run.now()))) {
    if (await run.host.post(caseSession, input).catch(() => false))
      throw new HostNotConforming(`${what} must be refused, and the host reports that it has applied.`);
  }
};

/** Posts an input that must apply. */
const post =
  (type: "re-act-cancelled" | "session-paused" | "session-resumed"): HostStep =>
  async (run) => {
    if (!(await run.host.post(caseSession, { type, timestamp: run.now() })))
      throw new HostNotConforming(`The ${type} did not apply.`);
  };

export const cancel: HostStep = post("re-act-cancelled");

export const pause: HostStep = (run, isAgain) => {
  run.begunAtPause = run.world.begun;
  return post("session-paused")(run, isAgain);
};

export const resume: HostStep = post("session-resumed");

/** The model calls of the witness for each message of `nothingBegins`: the first one fails. */
export const witnessCalls = 2;

/** Another session calls the model, which fails, and calls it again: meanwhile, and since the last pause, no work of the case begins. */
export const nothingBegins: HostStep = async (run) => {
  // The model fails for each text once in a process, and cases may share one.
  await run.askWitness(`fail ${crypto.randomUUID()}`);
  const begun = run.world.begun - run.begunAtPause - run.witnesses * witnessCalls;
  if (begun !== 0) throw new HostNotConforming(`The session is paused, and work has begun ${begun} times.`);
};

/** Posts a message to another session, and waits until that has answered it. */
export const askOther =
  (text: string): HostStep =>
  (run) =>
    run.askWitness(text);

/** Posts a message to another session, and waits until that asks a person. A decision on the question of the case must not apply there. */
export const decideOther =
  (text: string): HostStep =>
  async (run) => {
    await run.askWitness(text, hasQuestion);
    if (await run.host.post(witnessSession, await run.decision("approve")))
      throw new HostNotConforming("A decision on a question of one session applied in another.");
  };

/** Removes the session of the case. What it has been asked is not a part of the next one. */
export const remove: HostStep = async (run) => {
  if (hasQuestion(await run.until(() => true))) run.removedDecision = await run.decision("approve");
  run.removed = run.asked;
  await run.host.remove?.(caseSession);
};

/** Posts a decision on the question that the session asked when it was removed. It must not apply. */
export const decideRemoved: HostStep = async ({ host, removedDecision }) => {
  if (removedDecision === undefined) throw new HostNotConforming("The removed session asked no question.");
  if (await host.post(caseSession, removedDecision))
    throw new HostNotConforming("A decision on a question of a removed session applied in the next one.");
};

type Moment = WorkMoment["moment"];

/** Makes work wait at a moment, from this time on. */
export const hold =
  (work: string, moment: Moment = "begin", from = 1): HostStep =>
  ({ world }) =>
    world.hold({ work, moment, from });

/** Lets all work continue that waits. */
export const releaseAll: HostStep = ({ world }) => world.releaseAll();

/** Waits until work has reached a moment this number of times. */
export const reach =
  (work: string, times = 1, moment: Moment = "begin"): HostStep =>
  ({ world }) =>
    world.reached({ work, moment }, times);

/** Waits until work has learned of its abort: a host may report the end of the loop before. */
export const aborted = (work: string): HostStep => reach(work, 1, "aborted");

/** Waits until the result of a call of a tool is part of the session. */
export const reported =
  (tool: string): HostStep =>
  async (run) =>
    void (await run.until(({ toolCalls }) =>
      Object.values(toolCalls).some(({ name, result }) => name === tool && result !== null),
    ));

/** Waits until the session asks a person. */
export const question: HostStep = async (run) => void (await run.until(hasQuestion));

/** Waits until the session has answered all messages or failed. */
export const end: HostStep = async (run) =>
  void (await run.until((state) => hasEnded(state, run.asked - run.removed)));

/** Kills the process, lets time pass, and starts another process with this release of the agent. */
export const restartAs =
  (release: number, afterMs = 0): HostStep =>
  async ({ host }) => {
    await host.kill?.();
    if (afterMs > 0) await host.clock?.pass(afterMs);
    await host.start({ release });
  };

export const restart: HostStep = restartAs(1);

/** Another process takes the session over from one that still runs. */
export const takeOver: HostStep = ({ host }) => host.takeOver?.();

/** Lets time pass. */
export const pass =
  (ms: number): HostStep =>
  ({ host }) =>
    host.clock?.pass(ms);
