import type { HttpAgent } from "@ag-ui/client";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, fails } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { toolOf } from "./support.ts";

interface Shown {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly { readonly function: { readonly arguments: string } }[];
}

const messagesOf = (client: HttpAgent): readonly Shown[] => client.messages;

/** The messages of a role. */
const contentsOf = (client: HttpAgent, role: string): readonly unknown[] =>
  messagesOf(client).flatMap((message) => (message.role === role ? [message.content] : []));

const argumentsOf = (client: HttpAgent): readonly string[] =>
  messagesOf(client).flatMap(({ toolCalls = [] }) => toolCalls.map((call) => call.function.arguments));

const reasoningIds = (client: HttpAgent): readonly string[] =>
  messagesOf(client).flatMap(({ id, role }) => (role === "reasoning" ? [id] : []));

/** A page at an agent whose model a test writes. */
class Page extends AgUiScene {
  readonly model: HandModel;
  readonly clock: TestClock;

  constructor(options: ConstructorParameters<typeof AgUiScene>[1] = {}) {
    const model = new HandModel();
    const clock = new TestClock();
    super(agentOf(model, { tools: [toolOf("add"), toolOf("note")] }), { clock, ...options });
    this.model = model;
    this.clock = clock;
  }

  /** A client whose connection is lost as soon as it has this. */
  async cutOff(client: HttpAgent, run: Promise<unknown>, has: () => void): Promise<void> {
    await untilPasses(has);
    client.abortRun();
    await run;
  }

  /** The failures that are not those of a lost connection. */
  get others(): readonly string[] {
    return this.failures.filter((failure) => !failure.includes("abort"));
  }
}

describe("a page of AG-UI that was cut off and posts again while the model writes", () => {
  it("gets the rest of the reasoning from which it was cut off", async () => {
    await using page = new Page();
    const client = page.client();
    const run = say(client, "Hi");
    const first = await page.model.attempt(1);
    first.reason("I ");
    await page.cutOff(client, run, () => expect(contentsOf(client, "reasoning")).toEqual(["I "]));
    first.reason("thi");
    const next = say(client, "And then?");
    await untilPasses(() => expect(contentsOf(client, "reasoning")).toEqual(["I thi"]));
    first.reason("nk.");
    first.write("So.");
    first.end();
    (await page.model.attempt(2)).end();
    await next;
    expect(contentsOf(client, "reasoning")).toEqual(["I think."]);
    expect(page.others).toEqual([]);
  });

  it.each(["Let me see.", ""])("gets the rest of the arguments of calls: text %j", async (text) => {
    await using page = new Page();
    const client = page.client();
    const run = say(client, "Hi");
    const first = await page.model.attempt(1);
    if (text !== "") first.write(text);
    first.begin("add", '{"of":[1');
    first.begin("note", '{"text":"');
    await page.cutOff(client, run, () => expect(argumentsOf(client)).toEqual(['{"of":[1', '{"text":"']));
    first.continue(0, ",2");
    const next = say(client, "And then?");
    await untilPasses(() => expect(argumentsOf(client)).toEqual(['{"of":[1,2', '{"text":"']));
    first.continue(1, 'so"}');
    first.continue(0, "]}");
    first.end();
    const second = await page.model.attempt(2);
    second.write("Done.");
    second.end();
    await next;
    expect(argumentsOf(client)).toEqual(['{"of":[1,2]}', '{"text":"so"}']);
    expect(contentsOf(client, "tool")).toEqual(["ok", "ok"]);
    expect(page.others).toEqual([]);
  });

  it("gets the message from which it was cut off if the model has finished it", async () => {
    await using page = new Page();
    const client = page.client();
    const run = say(client, "Hi");
    const first = await page.model.attempt(1);
    first.write("Let me ");
    await page.cutOff(client, run, () => expect(contentsOf(client, "assistant")).toEqual(["Let me "]));
    first.write("see.");
    first.begin("add", "{}");
    first.end();
    const second = await page.model.attempt(2);
    const next = say(client, "And then?");
    await untilPasses(() => expect(contentsOf(client, "assistant")).toEqual(["Let me see."]));
    second.write("Done.");
    second.end();
    (await page.model.attempt(3)).end();
    await next;
    expect(contentsOf(client, "assistant")).toEqual(["Let me see.", "Done."]);
    expect(page.others).toEqual([]);
  });

  it("loses the text and the calls of an attempt that has failed meanwhile", async () => {
    await using page = new Page();
    const client = page.client();
    client.addMessage({ id: "rules", role: "system", content: "Be brief." });
    const run = say(client, "Hi");
    const first = await page.model.attempt(1);
    first.reason("Hm.");
    first.write("Half an ");
    first.begin("add", '{"of"');
    await page.cutOff(client, run, () => expect(argumentsOf(client)).toEqual(['{"of"']));
    first.fail();
    const second = await page.model.attempt(2, page.clock);
    const next = say(client, "And then?", "mine");
    second.reason("I think.");
    second.write("A whole answer.");
    second.end();
    (await page.model.attempt(3)).end();
    await next;
    expect(contentsOf(client, "assistant")).toEqual(["A whole answer."]);
    expect(contentsOf(client, "reasoning")).toEqual(["I think."]);
    expect(argumentsOf(client)).toEqual([]);
    expect(contentsOf(client, "user")).toEqual(["Hi", "And then?"]);
    expect(contentsOf(client, "system")).toEqual(["Be brief."]);
    expect(page.others).toEqual([]);
  });

  it("shows the answer once after a restart of the server", async () => {
    const storage = new MemoryStorage();
    const client = await (async () => {
      await using page = new Page({ log: memoryLog(storage) });
      const cut = page.client();
      const run = say(cut, "Hi");
      const first = await page.model.attempt(1);
      first.reason("I think.");
      first.write("Half an ");
      await page.cutOff(cut, run, () => expect(contentsOf(cut, "assistant")).toEqual(["Half an "]));
      return cut;
    })();
    await using page = new Page({ log: memoryLog(storage) });
    const again = page.client();
    again.setMessages(client.messages);
    const next = say(again, "And then?");
    const second = await page.model.attempt(1);
    second.reason("I think.");
    second.write("A whole answer.");
    second.end();
    (await page.model.attempt(2)).end();
    await next;
    expect(contentsOf(again, "assistant")).toEqual(["A whole answer."]);
    expect(contentsOf(again, "reasoning")).toEqual(["I think."]);
    expect(page.others).toEqual([]);
  });
});

describe("a retry, at a page of AG-UI", () => {
  it("keeps the message that the page has posted meanwhile", async () => {
    await using page = new Page();
    const first = page.client();
    const run = say(first, "Hi");
    const attempt = await page.model.attempt(1);
    attempt.write("Half an ");
    const second = page.client();
    const next = say(second, "My question", "mine");
    await untilPasses(() => expect(contentsOf(second, "assistant")).toEqual(["Half an "]));
    attempt.fail();
    await untilPasses(() => expect(page.types).toContain("MESSAGES_SNAPSHOT"));
    const again = await page.model.attempt(2, page.clock);
    again.write("A whole answer.");
    again.end();
    (await page.model.attempt(3)).end();
    await Promise.all([run, next]);
    expect(contentsOf(second, "user")).toContain("My question");
    expect(page.others).toEqual([]);
  });

  it("has the answer that failed before that of the loop which was tried again", async () => {
    const script = [fails("auth", { partial: "Half an " }), answers("A whole answer.")];
    await using page = new AgUiScene(agentOf(script));
    await say(page.client(), "Hi").catch(() => undefined);
    const [id = ""] = await page.sessionIds();
    const ada = page.scene.as("ada");
    expect((await ada.post(`/sessions/${id}/retry`, {})).body).toMatchObject({ status: "accepted" });
    await expect.poll(async () => (await page.stateOf(id)).reActContext.control.type).toBe("Done");
    const late = page.client();
    await late.runAgent();
    expect(contentsOf(late, "assistant")).toEqual(["Half an ", "A whole answer."]);
  });

  it("replaces the reasoning, which has the same id in each stream", async () => {
    await using page = new Page();
    const client = page.client();
    const run = say(client, "Hi");
    const first = await page.model.attempt(1);
    first.reason("Hm.");
    first.write("Half an ");
    first.fail();
    await untilPasses(() => expect(page.types).toContain("MESSAGES_SNAPSHOT"));
    const second = await page.model.attempt(2, page.clock);
    second.reason("I ");
    const late = page.client();
    const next = say(late, "And then?", "other");
    await untilPasses(() => expect(contentsOf(late, "reasoning")).toEqual(["I "]));
    second.reason("think.");
    second.write("A whole answer.");
    second.end();
    (await page.model.attempt(3)).end();
    await Promise.all([run, next]);
    for (const shown of [client, late]) expect(contentsOf(shown, "reasoning")).toEqual(["I think."]);
    expect(reasoningIds(late)).toEqual(reasoningIds(client));
    expect(page.others).toEqual([]);
  });
});
