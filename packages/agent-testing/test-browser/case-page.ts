/** Runs a case of the conformance suite of hosts in a new worker. Resolves with its error; with an empty text if it passes. */
export type RunInWorker = (name: string) => Promise<string>;

declare global {
  var runInWorker: RunInWorker;
}

globalThis.runInWorker = (name) =>
  new Promise((resolve) => {
    const worker = new Worker("/worker.js", { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<string>) => {
      worker.terminate();
      resolve(data);
    });
    worker.addEventListener("error", ({ message }) => resolve(message));
    worker.postMessage(name);
  });
