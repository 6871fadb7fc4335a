/** The process of one loop: warms up and takes samples as the process of its suite asks for them. */
import { byHand } from "../loops/by-hand.ts";
import { byReducer, inSession, inSessionWithData } from "../loops/moora.ts";
import { checkedRun, type Implementation, type Script } from "../loops/script.ts";
import { loadPeerLoop } from "./peer-loader.ts";
import { timedWay } from "./ways.ts";

/** What the process is started with, as JSON in its first argument. */
export interface LoopOptions {
  readonly loop: string;
  readonly script: Script;
  /** How many units one run of the script has. */
  readonly units: number;
  /** The folder of the installed peers. */
  readonly peers: string;
}

/** A request: to warm up for so many milliseconds, or to take a sample. */
export type LoopRequest = { readonly warmUpMs: number } | "sample";

/** The reply: microseconds for a unit, or why it failed. A warm-up has the reply 0. */
export type LoopReply = number | { readonly error: string };

const ours = new Map<string, Implementation>(
  [inSession, inSessionWithData, byReducer, byHand].map(({ name, implement }) => [name, implement]),
);

async function main(): Promise<void> {
  const { loop, script, units, peers }: LoopOptions = JSON.parse(process.argv[2] ?? "");
  const implement = ours.get(loop) ?? (await loadPeerLoop(peers, loop));
  if (implement === undefined) throw new Error(`There is no loop "${loop}".`);
  const way = timedWay(loop, units, checkedRun(implement, script));
  const replyTo = async (request: LoopRequest): Promise<LoopReply> => {
    if (request === "sample") return await way.sample();
    await way.warmUp(request.warmUpMs);
    return 0;
  };
  process.on("message", (request: LoopRequest) => {
    void replyTo(request)
      .catch((error: unknown): LoopReply => ({ error: String(error) }))
      .then((reply) => process.send?.(reply));
  });
}

if (import.meta.main) await main();
