import { randomUUID } from "node:crypto";
import { Reader } from "./reader.ts";
import type { ServerProcess } from "./server-process.ts";

/** Sends a message to a session and reads its answer to the end. */
export type Loop = () => Promise<void>;

/** A protocol of the server. Returns the loop of one new session; what it opens is disposed of with the stack. */
export type Face = (server: ServerProcess, stack: DisposableStack) => Promise<Loop>;

const content = "Hello";

/** Posts, and one reader of the events. */
export const events: Face = async (server, stack) => {
  const id = await server.createSession();
  const reader = stack.use(await Reader.open(server.port, id));
  return async () => {
    const answered = reader.sees("re-act-observed");
    await server.post(`/sessions/${id}/messages`, { content });
    await answered;
  };
};

/** A request whose response has all events of the loop. Without the text of its end, the loop was cut. */
async function readAnswer(server: ServerProcess, path: string, body: object, end: string): Promise<void> {
  const text = await server.postForText(path, body);
  if (!text.includes(end)) throw new Error(`${path} ended without ${end}.`);
}

export const agUi: Face = (server) => {
  const threadId = randomUUID();
  return Promise.resolve(async () => {
    const id = randomUUID();
    const body = { threadId, runId: id, messages: [{ id, role: "user", content }] };
    await readAnswer(server, "/agents/helper/ag-ui", body, "RUN_FINISHED");
  });
};

export const chat: Face = (server) => {
  const id = randomUUID();
  return Promise.resolve(async () => {
    const parts = [{ type: "text", text: content }];
    const body = { id, messages: [{ id: randomUUID(), role: "user", parts }] };
    await readAnswer(server, "/agents/helper/chat", body, '"type":"finish"');
  });
};
