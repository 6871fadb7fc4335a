import { config } from "zod/mini";
import type { CallMessage, ReplyMessage, WorkerEvent } from "./protocol.ts";
import { SessionWorker } from "./session-worker.ts";

// The policy of the page allows no code from strings.
config({ jitless: true });

const emit = (event: WorkerEvent): void => postMessage(event);
const reply = (message: ReplyMessage): void => postMessage(message);

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.addEventListener("message", () => waiting.shift()?.());
channel.port1.start();

/** Resolves after the messages that wait were handled. Unlike a timer it takes no time by itself. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(undefined);
  });

const worker = new SessionWorker(emit, pause);

async function answer({ id, name, args }: CallMessage): Promise<void> {
  try {
    // The arguments of a message are those of the call that it names.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const handler = worker.handlers[name] as (...given: readonly unknown[]) => unknown;
    reply({ id, value: await handler(...args) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener("message", ({ data }: MessageEvent<CallMessage>) => void answer(data));
