import type { Json, LlmOutcome, LlmRequest } from "@moora/llm";
import { failureOf } from "@moora/llm/adapter";
import { serverSentEvent } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { OpenAiCaller } from "../src/index.ts";
import { requestToOpenAi } from "../src/wire.ts";

const request: LlmRequest = {
  purpose: "plan",
  model: "some-model",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
};

type Event = { readonly type: string; readonly [field: string]: unknown };

const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const done = (output_index: number, item: object): Event => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const added = (output_index: number, item: object): Event => ({
  ...done(output_index, item),
  type: "response.output_item.added",
});
const said = (text: string): object => ({
  ...message,
  content: [{ type: "output_text", text, annotations: [] }],
});
const end = (status: string, known: object = {}): Event => ({
  type: `response.${status}`,
  response: { id: "resp_1", model: "snapshot", status, output: [], ...known },
});

/** What a stream of these events comes to. */
const outcomeOf = (...events: readonly Event[]): Promise<LlmOutcome> =>
  new OpenAiCaller({
    apiKey: "some-key",
    fetch: async () =>
      new Response(events.map((event) => serverSentEvent(event.type, event)).join(""), {
        headers: { "content-type": "text/event-stream" },
      }),
  }).call(request);

/** The items that go back for the parts that came. */
async function roundTrip(...items: readonly object[]): Promise<Json> {
  const outcome = await outcomeOf(...items.map((item, index) => done(index, item)), end("completed"));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  const { turn } = outcome;
  const results = turn.parts
    .filter(({ type }) => type === "tool-call")
    .map(() => ({ isError: false, content: "ok" }));
  const { body } = requestToOpenAi(
    { ...request, messages: [{ role: "assistant", turn, results }] },
    { origin: turn.origin },
  );
  return JSON.parse(JSON.stringify(body.input));
}

describe("an answer of the Responses API", () => {
  it("is what the done items say, in the order of their places", async () => {
    const outcome = await outcomeOf(
      added(0, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "half" }),
      done(1, said("Hello.")),
      done(0, {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "whole",
      }),
      end("completed", { usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 } }),
    );
    expect(outcome).toEqual({
      ok: true,
      model: "snapshot",
      turn: {
        origin: "openai/responses/api.openai.com/some-model",
        parts: [
          { type: "reasoning", text: "hm", raw: { id: "rs_1", encrypted_content: "whole", summary: [2] } },
          { type: "text", text: "Hello.", raw: { id: "msg_1" } },
        ],
      },
      usage: {
        inputTokens: 5,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 2,
        reasoningTokens: 0,
      },
      finish: { unified: "stop", raw: "completed" },
    });
  });

  it("is what the last event says when no item came by itself", async () => {
    const outcome = await outcomeOf(end("completed", { output: [said("Hello.")] }));
    expect(outcome).toMatchObject({ ok: true, turn: { parts: [{ type: "text", text: "Hello." }] } });
  });

  it("has ended as the name of its last event says, where the server tells no status", async () => {
    const bare = { type: "response.completed", response: { model: "m", output: null } };
    const outcome = await outcomeOf(done(0, said("Hello.")), bare);
    expect(outcome).toMatchObject({ ok: true, finish: { unified: "stop", raw: "completed" } });
  });

  it("is malformed when an item began and never came", async () => {
    const call = { type: "function_call", call_id: "c", name: "add", arguments: "" };
    const outcome = await outcomeOf(done(0, said("Hello.")), added(1, call), end("completed"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "malformed", retryable: true } });
  });

  it("may lack what the token limit cut", async () => {
    const call = { type: "function_call", call_id: "c", name: "add", arguments: "" };
    const reason = { incomplete_details: { reason: "max_output_tokens" } };
    const outcome = await outcomeOf(done(0, said("Hello")), added(1, call), end("incomplete", reason));
    expect(outcome).toMatchObject({ ok: true, finish: { unified: "length", raw: "max_output_tokens" } });
    const nothing = await outcomeOf(end("incomplete", reason));
    expect(nothing).toMatchObject({ ok: true, turn: { parts: [] }, finish: { unified: "length" } });
  });

  it("is a failure when the response failed, with the provider's word", async () => {
    const failed = (code: string): Promise<LlmOutcome> =>
      outcomeOf(
        end("failed", { error: { code, message: "no" }, usage: { input_tokens: 3, output_tokens: 0 } }),
      );
    expect(await failed("rate_limit_exceeded")).toMatchObject({
      failure: { kind: "rate-limit", retryable: true, raw: "rate_limit_exceeded" },
      usage: { inputTokens: 3 },
    });
    expect(await failed("server_error")).toMatchObject({ failure: { kind: "server", retryable: true } });
    expect(await failed("invalid_prompt")).toMatchObject({
      failure: { kind: "content-filter", retryable: false },
    });
    expect(await outcomeOf(end("failed", { error: null }))).toMatchObject({
      failure: failureOf("server", "api.openai.com failed without an error message."),
    });
  });

  it("skips events that are unknown", async () => {
    const outcome = await outcomeOf({ type: "response.sung" }, done(0, said("Hello.")), end("completed"));
    expect(outcome).toMatchObject({ ok: true });
  });

  it("is malformed when an event is not what its name says", async () => {
    const outcome = await outcomeOf(
      { type: "response.output_item.added", output_index: 0 },
      end("completed"),
    );
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "malformed" } });
  });
});

describe("what goes back to where it came from", () => {
  it("is the item as it was", async () => {
    const reasoning = {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "gAAA",
      summary: [
        { type: "summary_text", text: "one\n\ntwo" },
        { type: "summary_text", text: "" },
        { type: "summary_text", text: "three" },
      ],
      content: [{ type: "reasoning_text", text: "in the open" }],
    };
    const annotation = {
      type: "url_citation",
      url: "https://x.test",
      title: "x",
      start_index: 0,
      end_index: 1,
    };
    const cited = {
      ...message,
      phase: "commentary",
      content: [{ type: "output_text", text: "See x.", annotations: [annotation] }],
    };
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } };
    const call = {
      type: "function_call",
      id: "fc_1",
      call_id: "c1",
      name: "add",
      arguments: "{}",
      namespace: "math",
    };
    expect(await roundTrip(reasoning, search, cited, call)).toEqual([
      reasoning,
      search,
      cited,
      call,
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });

  it("is said again without ids when there is reasoning that nobody could verify", async () => {
    const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "add", arguments: "{}" };
    const bare = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null };
    expect(await roundTrip(bare, said("So."), call)).toEqual([
      { type: "message", role: "assistant", content: "So." },
      { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });
});
