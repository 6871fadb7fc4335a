import { defineAgent, defineTool } from "@moora/agent";
import { memoryLog, MemoryStorage, type LiveChannel } from "@moora/event-log";
import { callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { range, Scene } from "@moora/testbed/server/scene";
import { restateLog } from "../src/index.ts";
import { HandWriter } from "./hand-writer.ts";
import { LogScene } from "./log-scene.ts";
import { shownText, untilShown } from "./shown-text.ts";

/** The processes on one channel: each has a log of its own in memory, of which only the channel is used. */
const storage = new MemoryStorage();
const channel = (): LiveChannel => memoryLog(storage).live ?? fail();
const fail = (): never => {
  throw new Error("The log has no live channel.");
};

const writer = new HandWriter();
let endTool: () => void = () => undefined;

const agentOf = (llm: HandWriter | MockLlmCaller) =>
  defineAgent({
    name: "helper",
    llm: {
      name: "either",
      call: (request, options) => (isAsked(request) ? tools : llm).call(request, options),
    },
    tools: [
      defineTool({
        name: "report",
        description: "Reports its progress.",
        input: { type: "object" },
        async execute(_, { progress }) {
          const ended = Promise.withResolvers<void>();
          endTool = ended.resolve;
          progress("half");
          await ended.promise;
          progress("nearly");
          return "reported";
        },
      }),
    ],
  });

const tools = new MockLlmCaller(() => callsTools([{ name: "report", arguments: {} }]));

const isAsked = ({ messages }: Parameters<HandWriter["call"]>[0]): boolean => {
  const last = messages.at(-1);
  return last?.role === "user" && JSON.stringify(last.content).includes("report");
};

let restate: LogScene;

beforeAll(async () => {
  restate = await LogScene.start(agentOf(writer), { live: channel() });
});

afterAll(async () => {
  await restate[Symbol.asyncDispose]();
});

const serve = (live: LiveChannel | undefined = channel()): Scene => {
  const { ingressUrl } = restate.server;
  const log = restateLog({ ingressUrl, agent: "helper", ...(live === undefined ? {} : { live }) });
  return new Scene(agentOf(new MockLlmCaller([])), { log });
};

describe("what the effects on Restate stream", () => {
  it("reaches viewers of several servers while it is streamed, also those that come in the middle", async () => {
    await using one = serve();
    await using other = serve();
    const id = await one.as("ada").create();
    await using near = await one.as("ada").events(id);
    await using far = await other.as("ada").events(id);
    await one.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await writer.begun;
    writer.write("Once ");
    await untilShown(near, "Once ");
    await untilShown(far, "Once ");
    writer.write("upon ");
    await untilShown(near, "Once upon ");
    await using late = await other.as("ada").events(id);
    await untilShown(late, "Once upon ");
    await using third = serve();
    await using last = await third.as("ada").events(id);
    await untilShown(last, "Once upon ");
    writer.write("a time.");
    for (const reader of [near, far, late, last]) await untilShown(reader, "Once upon a time.");
    writer.end();
    for (const reader of [near, far, late, last]) {
      const { seq, input } = await reader.until("re-act-observed");
      expect(reader.seqs).toEqual(range(1, seq));
      expect(JSON.stringify(input)).toContain("Once upon a time.");
    }
    expect([...one.errors, ...other.errors, ...third.errors]).toEqual([]);
  });

  it("contains the progress of tools, to its end", async () => {
    await using scene = serve();
    const id = await scene.as("ada").create();
    await using stream = await scene.as("ada").events(id);
    await scene.as("ada").post(`/sessions/${id}/messages`, { content: "Please report." });
    await stream.until("tool-call-started");
    const progress = () =>
      stream.chunks.flatMap((chunk) => (chunk.type === "tool-progress" ? [chunk.text] : []));
    while (progress().length === 0) await stream.next();
    endTool();
    await stream.until("tool-call-completed");
    expect(progress()).toEqual(["half", "nearly"]);
    await writer.begun;
    writer.write("Done.");
    await untilShown(stream, "Done.");
    writer.end();
    await stream.until("re-act-observed");
  });

  it("is not sent while no server has viewers of the session", async () => {
    const sent: string[] = [];
    const { subscribe } = channel();
    const stop = subscribe("viewers/1", (text) => void sent.push(text));
    await using scene = serve();
    const id = await scene.as("ada").create();
    await scene.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await writer.begun;
    writer.write("No viewer reads this.");
    writer.end();
    await expect
      .poll(async () => (await scene.as("ada").get(`/sessions/${id}`)).body.state.reActContext.control.type)
      .toBe("Done");
    stop();
    expect(sent.map((text) => (JSON.parse(text) as { readonly type: string }).type)).toEqual(["ask"]);
  });

  it("is left out by a server without the channel, which shows the records", async () => {
    await using scene = serve(undefined);
    const { ingressUrl } = restate.server;
    await using blind = new Scene(agentOf(new MockLlmCaller([])), {
      log: restateLog({ ingressUrl, agent: "helper" }),
    });
    const id = await scene.as("ada").create();
    await using stream = await blind.as("ada").events(id);
    await blind.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await writer.begun;
    writer.write("Hello.");
    writer.end();
    const { seq } = await stream.until("re-act-observed");
    expect(stream.seqs).toEqual(range(1, seq));
    expect(shownText(stream)).toBe("");
  });
});
