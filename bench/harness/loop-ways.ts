import { fork } from "node:child_process";
import { join } from "node:path";
import type { Script } from "../loops/script.ts";
import type { LoopOptions, LoopReply, LoopRequest } from "./loop-worker.ts";
import type { RowContext, Sampler } from "./row.ts";
import { alternating, type Way } from "./ways.ts";

/** A loop that a row compares. Its name is the loop unless the row gives it another one. */
export interface LoopChoice {
  readonly name?: string;
  readonly loop: string;
  readonly script: Script;
  readonly units: number;
}

/**
 * A way that runs in a process of its own, so that loops share neither a heap nor the decisions of the compiler. It rests
 * while others take samples.
 */
function loopWay({ name, ...choice }: LoopChoice, { peers, resources }: RowContext): Way {
  const options: LoopOptions = { ...choice, peers };
  const worker = fork(join(import.meta.dirname, "loop-worker.ts"), [JSON.stringify(options)]);
  resources.defer(() => worker.disconnect());
  const request = (message: LoopRequest): Promise<number> =>
    new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error(`The process of the loop "${choice.loop}" has ended.`));
      worker.once("exit", onExit);
      worker.once("message", (reply: LoopReply) => {
        worker.off("exit", onExit);
        if (typeof reply === "number") resolve(reply);
        else reject(new Error(reply.error));
      });
      worker.send(message);
    });
  return {
    name: name ?? choice.loop,
    warmUp: async (ms) => void (await request({ warmUpMs: ms })),
    sample: () => request("sample"),
  };
}

/** Compares loops, each in a process of its own. */
export const compareLoops = (context: RowContext, choices: readonly LoopChoice[]): Sampler =>
  alternating(...choices.map((choice) => loopWay(choice, context)));
