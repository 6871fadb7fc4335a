import { quantile, ratioOf } from "../harness/statistics.ts";
import { alternating, type Way } from "../harness/ways.ts";
import { agUi, chat, events, type Face } from "./faces.ts";
import { whole, type ServerRow } from "./row.ts";
import { ServerProcess } from "./server-process.ts";
import { pieces } from "./streaming-agent.ts";

/** How often each way is measured, and how many loops of one session a sample has. */
export interface LoopCounts {
  readonly samples: number;
  readonly loops: number;
}

const faces: readonly (readonly [name: string, face: Face])[] = [
  ["by a server, to one reader of its events", events],
  ["by a server, over AG-UI", agUi],
  ["by a server, to a chat of the AI SDK", chat],
];

/** Runs loops of a new session. Returns how long they take, in milliseconds. */
async function runLoops(server: ServerProcess, face: Face, loops: number): Promise<number> {
  using stack = new DisposableStack();
  const loop = await face(server, stack);
  const start = performance.now();
  for (let count = 0; count < loops; count += 1) await loop();
  return performance.now() - start;
}

/** A way whose samples are microseconds of CPU that the process of the server takes for a loop, on all of its threads. */
const cpuWay = (server: ServerProcess, name: string, loops: number, run: () => Promise<unknown>): Way => ({
  name,
  async warmUp() {
    for (let count = 0; count < 5; count += 1) await run();
  },
  async sample() {
    const before = await server.cpu();
    await run();
    return ((await server.cpu()) - before) / loops;
  },
});

/** Takes the samples of ways in turns. Returns those of each way. */
async function samplesOf(ways: readonly Way[], count: number): Promise<readonly (readonly number[])[]> {
  const sampler = alternating(...ways);
  await sampler.warmUp(0);
  const samples: (readonly number[])[] = [];
  while (samples.length < count) samples.push(await sampler.sample(samples.length));
  return ways.map((_, way) => samples.map((sample) => sample[way] ?? Number.NaN));
}

/** Compares sessions in the process of a server, which the process itself drives, with sessions that clients drive. */
export async function measureLoops({ samples, loops }: LoopCounts): Promise<readonly ServerRow[]> {
  await using server = await ServerProcess.start();
  const ways = faces.map(([name, face]) => cpuWay(server, name, loops, () => runLoops(server, face, loops)));
  const directWay = cpuWay(server, "in the process", loops, () => server.directLoops(loops));
  const [direct = [], ...served] = await samplesOf([directWay, ...ways], samples);
  const waitUs = ((await runLoops(server, events, loops)) * 1_000) / loops;
  const cpu = (of: readonly number[]): string => `${whole(quantile(of, 0.5))} µs of CPU`;
  return [
    [`loop of a session in process, answered in ${pieces} pieces`, cpu(direct)],
    ...served.map((of, index): ServerRow => {
      const ratio = `${ratioOf(of, direct).toFixed(1)} times`;
      return [`the same ${ways[index]?.name}`, `${cpu(of)}, ${ratio}`];
    }),
    ["from a post to the last event", `${whole(waitUs)} µs`],
  ];
}
