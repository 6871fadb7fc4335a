/** Whether a session in memory slows down as it grows to 100,000 records. */
import { startSession } from "@moora/agent";
import { msOf, ownTime } from "../harness/clocks.ts";
import { timesAtMost, type Row, type Sampler } from "../harness/row.ts";
import { collectGarbage } from "../harness/ways.ts";
import { chatAgent, userText } from "../loops/chat.ts";

const [recordCount, measuredSteps, stepsPerMessage] = [100_000, 1_000, 10];
const agent = chatAgent({ callsPerMessage: stepsPerMessage, resultLength: 100 });

/** Runs a session to so many records; returns the milliseconds of each message with its steps. */
async function runSession(records: number): Promise<readonly number[]> {
  await using session = startSession(agent);
  const times: number[] = [];
  while (session.seq() < records) {
    const text = userText(times.length);
    times.push(await msOf(ownTime, () => session.ask(text)));
  }
  return times;
}

const perStep = (times: readonly number[]): number =>
  (times.reduce((sum, ms) => sum + ms, 0) * 1_000) / (times.length * stepsPerMessage);

const sampler: Sampler = {
  names: ["last 1,000 steps", "first 1,000 steps", "all steps"],
  async warmUp(ms) {
    const until = performance.now() + 2 * ms;
    while (performance.now() < until) await runSession(recordCount / 50);
  },
  async sample() {
    collectGarbage("major");
    const times = await runSession(recordCount);
    const measured = measuredSteps / stepsPerMessage;
    return [perStep(times.slice(-measured)), perStep(times.slice(0, measured)), perStep(times)];
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
