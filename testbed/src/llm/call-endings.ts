import type { LlmCallOptions, LlmCaller, LlmFailureKind } from "@moora/llm";
import { ProtocolServer, type ServerBehavior, type ServerDialect } from "@moora/llm/testing";
import { requestOf } from "../request-of.ts";

const answer = { text: Array.from({ length: 30 }, (_, index) => `word ${index} `) };

interface Ending {
  readonly kind: "ok" | LlmFailureKind;
  readonly behavior: ServerBehavior;
  readonly options?: () => LlmCallOptions;
}

const abortAtFirstChunk = (): LlmCallOptions => {
  const controller = new AbortController();
  return { signal: controller.signal, onChunk: () => controller.abort() };
};

const endings: readonly Ending[] = [
  { kind: "ok", behavior: { type: "answer", answer } },
  { kind: "interrupted", behavior: { type: "cut", answer, afterEvents: 5, by: "fin" } },
  { kind: "server", behavior: { type: "error-response", status: 500, error: "server" } },
  {
    kind: "timeout",
    behavior: { type: "stall", answer, afterEvents: 5 },
    options: () => ({ idleTimeoutMs: 20 }),
  },
  { kind: "timeout", behavior: { type: "silent" }, options: () => ({ firstChunkTimeoutMs: 20 }) },
  { kind: "aborted", behavior: { type: "stall", answer, afterEvents: 5 }, options: abortAtFirstChunk },
];

/**
 * Ends calls in every way that a call can end, each once, and closes the server. A script that does nothing else must exit
 * by itself after that: a timer or a socket that the caller leaves open keeps the process alive. Throws an error when a
 * call ends in another way. Needs Node.
 */
export async function endCallsInEveryWay(
  dialect: ServerDialect,
  callerAt: (baseURL: string) => LlmCaller,
): Promise<void> {
  const server = new ProtocolServer(dialect);
  const caller = callerAt(await server.listen());
  for (const { kind, behavior, options } of endings) {
    server.serve(behavior);
    const outcome = await caller.call(requestOf({ model: "model-a" }), options?.());
    const actual = outcome.ok ? "ok" : outcome.failure.kind;
    if (actual !== kind) throw new Error(`A call must end as ${kind}, got ${actual}.`);
  }
  await server.close();
}

/**
 * Runs a script in a Node process with the flags of this one, and resolves to its output. A script that has not exited
 * after ten seconds is killed; then, and where it fails, the promise rejects with what it wrote to stderr. Needs Node.
 */
export const outputOfScript = (script: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { execFile } = process.getBuiltinModule("node:child_process");
    const options = { timeout: 10_000, killSignal: "SIGKILL" } as const;
    execFile(process.execPath, [...process.execArgv, script], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${script} did not exit by itself: ${error.message} ${stderr}`));
      else resolve(stdout);
    });
  });
