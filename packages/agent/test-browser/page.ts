import { verifySession, type Decision } from "@moora/agent";
import { id, log, openToPost, runUnderLease, runUnderLock } from "./agent.ts";

/** What a test calls in a tab. */
export interface Tab {
  /** Runs the session in this tab when no other runs it. */
  run(by: "lock" | "lease"): Promise<void>;
  /** Runs the session in a worker of this tab. Terminates the worker that ran it before. */
  runInWorker(): Promise<void>;
  post(text: string): Promise<string>;
  /** Waits for a question, and answers it from this tab. Resolves with the name of the tool. */
  decide(decision: Decision): Promise<string>;
  /** Waits until the loop has an answer, which another tab may have recorded. Resolves with it. */
  answer(): Promise<string>;
  /** What was recorded of each tool, and whether the log is the one that was written. */
  report(): Promise<Readonly<Record<string, unknown>>>;
}

declare global {
  /** The tab of a test. */
  var tab: Tab;
}

let worker: Worker | undefined;

async function view<Value>(
  read: (session: Awaited<ReturnType<typeof openToPost>>) => Value | undefined,
): Promise<Value> {
  const session = await openToPost();
  const { promise, resolve } = Promise.withResolvers<Value>();
  const look = (): void => {
    const value = read(session);
    if (value !== undefined) resolve(value);
  };
  const stop = session.subscribe(look);
  look();
  const value = await promise;
  stop();
  await session.close();
  return value;
}

globalThis.tab = {
  run: (by) =>
    by === "lease"
      ? runUnderLease().then(() => undefined)
      : new Promise((resolve) => void runUnderLock(() => resolve())),
  async runInWorker() {
    worker?.terminate();
    worker = new Worker("/worker.js", { type: "module" });
    const opened = Promise.withResolvers<void>();
    worker.addEventListener("message", () => opened.resolve());
    await opened.promise;
  },
  async post(text) {
    await using session = await openToPost();
    return (await session.send(text)).status;
  },
  async decide(decision) {
    const question = await view((session) => session.questions()[0]);
    await using session = await openToPost();
    await session.decide(question, decision);
    return question.name;
  },
  answer: () =>
    view((session) => {
      const { control } = session.current().reActContext;
      return control.type === "Done" ? control.answer : undefined;
    }),
  async report() {
    await using session = await openToPost();
    const { ok } = await verifySession(log, id);
    const calls = Object.values(session.current().toolCalls);
    return {
      ok,
      ...Object.fromEntries(
        calls.map(({ name, result }) => [name, result?.isSuccess === true ? result.content : result?.code]),
      ),
    };
  },
};
