import { join } from "node:path";
import { HttpAgent, type BaseEvent } from "@ag-ui/client";
import { failureText, type AgentState } from "@moora/agent";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import { expect, vi } from "vitest";
import { Client } from "@moora/testbed/server/scene";

const program = join(import.meta.dirname, "children/ag-ui-server.ts");

const urlOf = async (child: Child): Promise<string> => (await child.printed(/listening (\S+)/))[1] ?? "";

/**
 * The `fetch` of the platform. After a lost connection the client rejects its run, and leaves the rejection of `cancel` unhandled; this
 * `cancel` has none.
 */
async function fetchEvents(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body } = response;
  const reader = body?.getReader();
  const cancel = (): Promise<void> => (reader?.cancel() ?? Promise.resolve()).catch(() => undefined);
  if (body !== null) Object.assign(body, { getReader: () => ({ read: () => reader?.read(), cancel }) });
  return response;
}

/** The official client, with its verification of events. */
class Page {
  readonly client: HttpAgent;
  readonly events: BaseEvent[] = [];
  readonly failures: string[] = [];

  constructor(url: string) {
    this.client = new HttpAgent({ url: "", threadId: "thread-1", fetch: fetchEvents });
    this.connect(url);
    this.client.subscribe({
      onEvent: ({ event }) => void this.events.push(event),
      onRunFailed: ({ error }) => void this.failures.push(error.message),
    });
  }

  connect(url: string): void {
    this.client.url = `${url}/agents/helper/ag-ui`;
  }

  say(content: string): Promise<unknown> {
    this.client.addMessage({ id: "user_1", role: "user", content });
    return this.client.runAgent();
  }

  /** Runs again what was cut off, as the documentation says: without what follows the last message of the user. */
  async runAgain(): Promise<void> {
    const { messages } = this.client;
    const last = messages.findLastIndex(({ role }) => role === "user");
    this.client.setMessages(messages.slice(0, last + 1));
    this.failures.length = 0;
    await this.client.runAgent();
  }

  get interrupts(): readonly { id: string; reason: string; toolCallId: string }[] {
    return (this.events.at(-1) as unknown as { outcome: { interrupts?: [] } }).outcome.interrupts ?? [];
  }

  /** What the client shows: texts by their ids, calls and results. */
  get shown(): readonly unknown[] {
    return this.client.messages.flatMap((message): unknown[] => {
      if (message.role === "tool") return [["result", message.toolCallId, message.content]];
      if (message.role !== "user" && message.role !== "assistant") return [];
      const text = message.content === undefined ? [] : [[message.role, message.id, message.content]];
      const calls = "toolCalls" in message ? (message.toolCalls ?? []) : [];
      return [
        ...text,
        ...calls.map((call) => ["call", call.id, call.function.name, JSON.parse(call.function.arguments)]),
      ];
    });
  }
}

/** What the state of the only session has, in the form in which a client shows it. */
async function recorded(url: string): Promise<readonly unknown[]> {
  const client = new Client((path, init) => fetch(`${url}${path}`, init));
  const [{ id }] = (await client.get("/sessions")).body.sessions;
  const { state } = (await client.get(`/sessions/${encodeURIComponent(id)}`)).body as { state: AgentState };
  const calls = Object.entries(state.toolCalls).flatMap(([callId, { name, parameters, result }]) => [
    ["call", callId, name, JSON.parse(parameters)],
    ["result", callId, result?.isSuccess === false ? failureText(result) : result?.content],
  ]);
  // The text of an attempt that the end of its process has interrupted is not in the log, and its message is empty.
  const texts = state.messages.filter(({ content }) => content !== "");
  const [user, ...others] = texts.map((message) => [message.role, message.id, message.content]);
  // The calls belong to the first message of the assistant.
  return [user, ...others.slice(0, 1), ...calls, ...others.slice(1)];
}

/** What a client asks for, and when its server is killed: the process has printed something, and the client shows this. */
interface Killed {
  readonly text: string;
  readonly printed: RegExp;
  readonly shown: unknown;
}

/** A client whose server was killed, and that has run again what was cut off, at the next server. */
export interface Continued extends AsyncDisposable {
  readonly page: Page;
  /** The address of the next server. */
  readonly url: string;
  /** How often both servers have run the tool. */
  payments(): number;
}

/** Kills the server of a client, and lets the client continue at the next one. */
export async function continueAfterKill({ text, printed, shown }: Killed): Promise<Continued> {
  await using stack = new AsyncDisposableStack();
  const file = stack.use(new Place()).file("log.db");
  const killed = stack.use(new Child(program, file, "hang"));
  const page = new Page(await urlOf(killed));
  const run = page.say(text).catch(() => undefined);
  await killed.printed(printed);
  await vi.waitFor(() => expect(page.shown.at(-1)).toEqual(shown), 60_000);
  await killed.kill();
  await run;
  expect(page.failures).toHaveLength(1);
  const next = stack.use(new Child(program, file, "answer"));
  const url = await urlOf(next);
  page.connect(url);
  await page.runAgain();
  const kept = stack.move();
  return {
    page,
    url,
    payments: () => [killed, next].flatMap(({ output }) => output.match(/paying/g) ?? []).length,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Expects a client to show what the session has, and no failure. */
export async function checkIsRecorded({ page, url }: Continued): Promise<void> {
  expect(page.failures).toEqual([]);
  expect(page.shown).toEqual(await recorded(url));
}
