import type { CallMessage, ReplyMessage, WorkerCalls, WorkerEvent } from "../worker/protocol.ts";

/** Calls the worker. A call rejects with the message of the error of the worker. */
export interface WorkerClient {
  call<Name extends keyof WorkerCalls>(
    name: Name,
    ...args: Parameters<WorkerCalls[Name]>
  ): Promise<ReturnType<WorkerCalls[Name]>>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the worker with the code that the page contains, so that a file needs no other file. */
export function startWorker(code: string, onEvent: (event: WorkerEvent) => void): WorkerClient {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(url);
  const waiting = new Map<number, Waiting>();
  let count = 0;
  worker.addEventListener("message", ({ data }: MessageEvent<ReplyMessage | WorkerEvent>) => {
    if ("event" in data) return onEvent(data);
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if ("error" in data) call?.reject(new Error(data.error));
    else call?.resolve(data.value);
  });
  return {
    call(name, ...args) {
      count += 1;
      const id = count;
      worker.postMessage({ id, name, args } satisfies CallMessage);
      return new Promise((resolve, reject) => {
        waiting.set(id, {
          // The worker answers with the result of the call that has this id.
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion
          resolve: (value) => resolve(value as ReturnType<WorkerCalls[typeof name]>),
          reject,
        });
      });
    },
  };
}
