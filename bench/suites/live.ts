/** Whether a session in memory slows down as it grows to 100,000 records. */
import { startSession } from "@moora/agent";
import { msOf, ownTime } from "../harness/clocks.ts";
import { timesAtMost, type Row, type Sampler } from "../harness/row.ts";
import { quantile } from "../harness/statistics.ts";
import { chatAgent, userText } from "../loops/chat.ts";

const [recordCount, measuredSteps, stepsPerMessage] = [100_000, 1_000, 10];
const measuredMessages = measuredSteps / stepsPerMessage;
const agent = chatAgent({ callsPerMessage: stepsPerMessage, resultLength: 100 });

/** Runs a session while `continues` returns true; returns the milliseconds of each message with its steps. */
async function runSession(
  continues: (records: number, messages: number) => boolean,
): Promise<readonly number[]> {
  await using session = startSession(agent);
  const times: number[] = [];
  while (continues(session.seq(), times.length)) {
    const text = userText(times.length);
    times.push(await msOf(ownTime, () => session.ask(text)));
  }
  return times;
}

const perStep = (times: readonly number[]): number =>
  (times.reduce((sum, ms) => sum + ms, 0) * 1_000) / (times.length * stepsPerMessage);

/** The first steps of some sessions: one session alone would measure how the compiler adapts to it. */
async function firstSteps(sessions: number): Promise<readonly number[]> {
  const costs: number[] = [];
  while (costs.length < sessions)
    costs.push(perStep(await runSession((_, messages) => messages < measuredMessages)));
  return costs;
}

const sampler: Sampler = {
  names: ["last 1,000 steps", "first 1,000 steps", "all steps"],
  async warmUp(ms) {
    const until = ownTime() + 2 * ms;
    while (ownTime() < until) await firstSteps(1);
  },
  async sample() {
    const before = await firstSteps(5);
    const times = await runSession((records) => records < recordCount);
    const first = quantile([...before, ...(await firstSteps(5))], 0.5);
    return [perStep(times.slice(-measuredMessages)), first, perStep(times)];
  },
};

export const rows: readonly Row[] = [
  {
    name: "live/growth",
    what: "last 1,000 steps of a live session of 100,000 records",
    unit: "µs",
    goal: timesAtMost(1.3),
    prepare: () => sampler,
  },
];
