import { execFile } from "node:child_process";
import type { LlmCaller, LlmRequest } from "../../src/index.ts";
import { ProtocolServer, type ServerDialect } from "./protocol-server.ts";

const request: LlmRequest = {
  purpose: "plan",
  model: "model-a",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
};

const answer = { text: Array.from({ length: 30 }, (_, index) => `word ${index} `) };

/** Calls a model in every way that a call can end, and names the ends. */
export async function everyEnd(
  dialect: ServerDialect,
  callerAt: (baseURL: string) => LlmCaller,
): Promise<string[]> {
  const server = new ProtocolServer(dialect);
  const caller = callerAt(await server.listen());
  const ends: string[] = [];
  const end = async (options: Parameters<LlmCaller["call"]>[1]): Promise<void> => {
    const outcome = await caller.call(request, options);
    ends.push(outcome.ok ? "ok" : outcome.failure.kind);
  };
  server.serve({ type: "answers", answer });
  await end({});
  server.serve({ type: "cuts", answer, afterEvents: 5, by: "fin" });
  await end({});
  server.serve({ type: "says", status: 500, error: "server" });
  await end({});
  server.serve({ type: "stalls", answer, afterEvents: 5 });
  await end({ idleTimeoutMs: 20 });
  server.serve({ type: "silent" });
  await end({ firstChunkTimeoutMs: 20 });
  server.serve({ type: "stalls", answer, afterEvents: 5 });
  const abort = new AbortController();
  await end({ signal: abort.signal, onChunk: () => abort.abort() });
  await server.close();
  return ends;
}

/**
 * Runs a script in a process of its own, which has to come to its end by itself: a timer or a socket that is left keeps
 * it alive until it is killed, and then it has no output.
 */
export const outputOf = (script: string): Promise<string> =>
  new Promise((resolve) => {
    const options = { timeout: 10_000, killSignal: "SIGKILL" } as const;
    execFile(process.execPath, ["--conditions=@moora/source", script], options, (error, stdout, stderr) => {
      resolve(error ? `${error.message} ${stderr}` : stdout);
    });
  });
