import { Chat } from "@ai-sdk/react";
import { HttpAgent } from "@ag-ui/client";
import type { LogEntry } from "@moora/agent";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { DefaultChatTransport, type UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

/** A reader of a response that takes nothing while it is paused. */
class Reader {
  #resumed = Promise.resolve();
  #resume: () => void = () => undefined;
  length = 0;

  pause(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resumed = promise;
    this.#resume = resolve;
  }

  resume(): void {
    this.#resume();
  }

  around(response: Response): Response {
    const reader = response.body?.getReader();
    if (reader === undefined) return response;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      await this.#resumed;
      const { done, value } = await reader.read();
      await this.#resumed;
      if (done) return controller.close();
      this.length += value.length;
      controller.enqueue(value);
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), response);
  }
}

interface Shown {
  /** The text of the answer, with its calls and its reasoning. */
  readonly parts: () => readonly string[];
  /** Sends a message. Resolves at the end of the answer, with its error. */
  readonly say: (text: string) => Promise<unknown>;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

function chatPage(fetch: Fetch): Shown {
  const errors: Error[] = [];
  const chat = new Chat<UIMessage>({
    id: "chat-1",
    transport: new DefaultChatTransport({ api: "http://localhost/agents/helper/chat", fetch }),
    onError: (error) => void errors.push(error),
  });
  const shown = (part: UIMessage["parts"][number]): readonly string[] => {
    if (part.type === "text" || part.type === "reasoning") return [part.text];
    return part.type === "dynamic-tool" ? [`${JSON.stringify(part.input)} = ${String(part.output)}`] : [];
  };
  return {
    parts: () => (chat.lastMessage?.role === "assistant" ? chat.lastMessage.parts.flatMap(shown) : []),
    say: async (text) => {
      await chat.sendMessage({ text });
      return errors[0];
    },
  };
}

const textOf = ({ content }: { readonly content?: unknown }): string =>
  typeof content === "string" ? content : JSON.stringify(content);

function agUiPage(fetch: Fetch): Shown {
  const client = new HttpAgent({ url: "http://localhost/agents/helper/ag-ui", threadId: "thread-1", fetch });
  let error: unknown;
  client.subscribe({
    onRunErrorEvent: ({ event }) => void (error = event),
    onRunFailed: (run) => void (error ??= run.error),
  });
  return {
    parts: () =>
      client.messages.slice(1).flatMap((message): string[] => {
        const results = client.messages.flatMap((other) => (other.role === "tool" ? [textOf(other)] : []));
        const calls = "toolCalls" in message ? (message.toolCalls ?? []) : [];
        const text = message.role !== "tool" && message.content !== undefined ? [textOf(message)] : [];
        return [...text, ...calls.map((call) => `${call.function.arguments} = ${results.join()}`)];
      }),
    say: async (text) => {
      client.addMessage({ id: "user_1", role: "user", content: text });
      await client.runAgent().catch((thrown: unknown) => void (error ??= thrown));
      return error;
    },
  };
}

/** A page with a reader that can be paused, at a server with a small buffer. */
class SlowPage implements AsyncDisposable {
  readonly model = new HandModel();
  readonly clock = new TestClock();
  readonly reader = new Reader();
  readonly entries: LogEntry[] = [];
  readonly scene: Scene;
  readonly page: Shown;

  constructor(pageOf: (fetch: Fetch) => Shown) {
    const agent = agentOf(this.model, { tools: [toolOf("add", () => "four")] });
    this.scene = new Scene(agent, {
      clock: this.clock,
      limits: { maxBufferedBytes: 1_000 },
      onLog: (entry) => void this.entries.push(entry),
    });
    this.page = pageOf(async (input, init) => {
      const request = new Request(input, init);
      request.headers.set("authorization", "Bearer ada");
      return this.reader.around(await this.scene.server.fetch(request));
    });
  }

  /** Writes a long text while the page takes nothing. */
  async writeMuch(write: (text: string) => void, text: string): Promise<void> {
    for (let at = 0; at < text.length; at += 4) write(text.slice(at, at + 4));
    await turn();
  }

  get codes(): readonly string[] {
    return this.entries.map(({ code }) => code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene[Symbol.asyncDispose]();
  }
}

const long = Array.from({ length: 2_000 }, (_, index) => `${index} `).join("");

describe.each([
  ["useChat", chatPage],
  ["AG-UI", agUiPage],
] as const)("a slow page of %s", (_name, pageOf) => {
  it("gets the rest of a long answer when it reads on", async () => {
    await using slow = new SlowPage(pageOf);
    const said = slow.page.say("Hi");
    const first = await slow.model.attempt(1);
    first.reason("I ");
    await untilPasses(() => expect(slow.page.parts()).toEqual(["I "]));
    slow.reader.pause();
    await slow.writeMuch((text) => first.reason(text), long);
    await slow.writeMuch((text) => first.write(text), long);
    first.begin("add", '{"of":[1,2]}');
    slow.reader.resume();
    await untilPasses(() => expect(slow.page.parts().slice(0, 2)).toEqual([`I ${long}`, long]));
    slow.reader.pause();
    await slow.writeMuch((text) => first.write(text), long);
    first.end();
    const second = await slow.model.attempt(2);
    await slow.writeMuch((text) => second.write(text), long);
    second.end();
    await turn();
    slow.reader.resume();
    expect(await said).toBeUndefined();
    expect(slow.page.parts().join("|")).toContain('{"of":[1,2]} = four');
    expect(slow.page.parts().at(-1)).toBe(long);
    expect(slow.codes).toContain("stream-behind");
  });

  it("gets the answer of a retry in the place of the attempt that failed meanwhile", async () => {
    await using slow = new SlowPage(pageOf);
    const said = slow.page.say("Hi");
    const first = await slow.model.attempt(1);
    first.write("Half an ");
    await untilPasses(() => expect(slow.page.parts()).toEqual(["Half an "]));
    slow.reader.pause();
    await slow.writeMuch((text) => first.write(text), long);
    first.fail();
    const second = await slow.model.attempt(2, slow.clock);
    second.write("A whole ");
    slow.reader.resume();
    await untilPasses(() => expect(slow.page.parts()).toEqual(["A whole "]));
    second.write("answer.");
    second.end();
    expect(await said).toBeUndefined();
    expect(slow.page.parts()).toEqual(["A whole answer."]);
  });

  it("gets an error if the loop has failed meanwhile", async () => {
    await using slow = new SlowPage(pageOf);
    const said = slow.page.say("Hi");
    const first = await slow.model.attempt(1);
    first.write("Half an ");
    await untilPasses(() => expect(slow.page.parts()).toEqual(["Half an "]));
    slow.reader.pause();
    await slow.writeMuch((text) => first.write(text), long);
    first.fail("auth");
    await turn();
    slow.reader.resume();
    expect(await said).toBeDefined();
    expect(slow.page.parts()).toEqual([`Half an ${long}`]);
  });

  it("gets an error in the place of the rest when it takes nothing for too long", async () => {
    await using slow = new SlowPage(pageOf);
    const said = slow.page.say("Hi");
    const first = await slow.model.attempt(1);
    first.write("Half an ");
    await untilPasses(() => expect(slow.page.parts()).toEqual(["Half an "]));
    slow.reader.pause();
    await slow.writeMuch((text) => first.write(text), long);
    await slow.clock.advanceAsync(31_000);
    slow.reader.resume();
    expect(await said).toMatchObject({ message: expect.stringContaining("ended before the answer") });
    expect(slow.codes).toContain("stream-stalled");
  });

  it("sees that the server was closed in the middle of its answer", async () => {
    await using slow = new SlowPage(pageOf);
    const said = slow.page.say("Hi");
    (await slow.model.attempt(1)).write("Half an ");
    await untilPasses(() => expect(slow.page.parts()).toEqual(["Half an "]));
    await slow.scene.server.close();
    expect(await said).toMatchObject({ message: expect.stringContaining("ended before the answer") });
  });
});
