import type { Json, LlmOutcome } from "@moora/llm";
import { failureOf } from "@moora/llm/adapter";
import { serverSentEvent } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { OpenAiCaller } from "../src/index.ts";
import { requestToOpenAi } from "../src/wire.ts";
import { requestOf } from "@moora/testbed/request-of";

const request = requestOf({ model: "some-model" });

type Event = { readonly type: string; readonly [field: string]: unknown };

const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const itemDone = (output_index: number, item: object): Event => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const itemAdded = (output_index: number, item: object): Event => ({
  ...itemDone(output_index, item),
  type: "response.output_item.added",
});
const messageItem = (text: string): object => ({
  ...message,
  content: [{ type: "output_text", text, annotations: [] }],
});
const end = (status: string, known: object = {}): Event => ({
  type: `response.${status}`,
  response: { id: "resp_1", model: "snapshot", status, output: [], ...known },
});

/** The outcome of a stream of these events. */
const outcomeOf = (...events: readonly Event[]): Promise<LlmOutcome> =>
  new OpenAiCaller({
    apiKey: "some-key",
    fetch: async () =>
      new Response(events.map((event) => serverSentEvent(event.type, event)).join(""), {
        headers: { "content-type": "text/event-stream" },
      }),
  }).call(request);

/** The items of the next request, after an answer with these items. */
async function roundTrip(...items: readonly object[]): Promise<Json> {
  const outcome = await outcomeOf(...items.map((item, index) => itemDone(index, item)), end("completed"));
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
  it("consists of the finished items in the order of their indexes", async () => {
    const outcome = await outcomeOf(
      itemAdded(0, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "half" }),
      itemDone(1, messageItem("Hello.")),
      itemDone(0, {
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

  it("keeps the usage of an earlier event where the last one has zeros", async () => {
    const counts = { input_tokens: 50, output_tokens: 0, total_tokens: 50 };
    const begun = { type: "response.in_progress", response: { usage: counts } };
    const zeros = { input_tokens: 0, output_tokens: 7, total_tokens: 7 };
    const outcome = await outcomeOf(
      begun,
      end("completed", { output: [messageItem("Hello.")], usage: zeros }),
    );
    expect(outcome).toMatchObject({ ok: true, usage: { inputTokens: 50, outputTokens: 7 } });
  });

  it("has a missing usage where no event reports one", async () => {
    const outcome = await outcomeOf(end("completed", { output: [messageItem("Hello.")] }));
    expect(outcome).toMatchObject({ ok: true, usageMissing: true });
  });

  it("consists of the items of the last event if there were no item events", async () => {
    const outcome = await outcomeOf(end("completed", { output: [messageItem("Hello.")] }));
    expect(outcome).toMatchObject({ ok: true, turn: { parts: [{ type: "text", text: "Hello." }] } });
  });

  it("has the status of its last event's type if the server sends none", async () => {
    const bare = { type: "response.completed", response: { model: "m", output: null } };
    const outcome = await outcomeOf(itemDone(0, messageItem("Hello.")), bare);
    expect(outcome).toMatchObject({ ok: true, finish: { unified: "stop", raw: "completed" } });
  });

  it("is malformed if an item has started and is not finished", async () => {
    const call = { type: "function_call", call_id: "c", name: "add", arguments: "" };
    const outcome = await outcomeOf(itemDone(0, messageItem("Hello.")), itemAdded(1, call), end("completed"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "malformed", retryable: true } });
  });

  it("that a content filter stopped is not a refusal, also with the text of one", async () => {
    const refusal = { ...message, content: [{ type: "refusal", refusal: "Not with this." }] };
    const filtered = end("incomplete", { incomplete_details: { reason: "content_filter" } });
    expect(await outcomeOf(itemDone(0, refusal), filtered)).toMatchObject({
      failure: {
        kind: "content-filter",
        message: "A content filter stopped the answer.",
        raw: "content_filter",
      },
    });
  });

  it("may miss items that were cut by the token limit", async () => {
    const call = { type: "function_call", call_id: "c", name: "add", arguments: "" };
    const reason = { incomplete_details: { reason: "max_output_tokens" } };
    const outcome = await outcomeOf(
      itemDone(0, messageItem("Hello")),
      itemAdded(1, call),
      end("incomplete", reason),
    );
    expect(outcome).toMatchObject({ ok: true, finish: { unified: "length", raw: "max_output_tokens" } });
    const nothing = await outcomeOf(end("incomplete", reason));
    expect(nothing).toMatchObject({
      failure: { kind: "empty", message: expect.stringContaining("cut off") },
    });
  });

  it("has each item once, also where a server gives all of them one index", async () => {
    const callItem = (number: number): object => ({
      type: "function_call",
      id: `fc_${number}`,
      call_id: `call_${number}`,
      name: "add",
      arguments: "{}",
    });
    const items = [messageItem("I add."), callItem(1), callItem(2)];
    const parts = [
      { type: "text" },
      { type: "tool-call", id: "call_1" },
      { type: "tool-call", id: "call_2" },
    ];
    const events = items.flatMap((item) => [itemAdded(0, item), itemDone(0, item)]);
    for (const output of [items, []])
      expect(await outcomeOf(...events, end("completed", { output }))).toMatchObject({ turn: { parts } });
    const twice = await outcomeOf(itemDone(0, callItem(1)), itemDone(0, callItem(1)), end("completed"));
    expect(twice).toMatchObject({ turn: { parts: { length: 1 } } });
  });

  it("was cut, whatever a server says of why it is incomplete", async () => {
    const cut = { incomplete_details: { reason: "max_tokens" }, output: [messageItem("Hel")] };
    expect(await outcomeOf(end("incomplete", cut))).toMatchObject({
      finish: { unified: "length", raw: "max_tokens" },
    });
  });

  it("is a failure with the provider's code if the response failed", async () => {
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
      failure: failureOf("server", "api.openai.com sent no error message."),
    });
  });

  it("skips events that are unknown", async () => {
    const outcome = await outcomeOf(
      { type: "response.sung" },
      itemDone(0, messageItem("Hello.")),
      end("completed"),
    );
    expect(outcome).toMatchObject({ ok: true });
  });

  it("is malformed if an event does not have the form of its type", async () => {
    const outcome = await outcomeOf(
      { type: "response.output_item.added", output_index: 0 },
      end("completed"),
    );
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "malformed" } });
  });
});

describe("an answer that is sent back to its origin", () => {
  it("has its items unchanged", async () => {
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

  it("has no ids if its reasoning cannot be verified", async () => {
    const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "add", arguments: "{}" };
    const bare = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null };
    expect(await roundTrip(bare, messageItem("So."), call)).toEqual([
      { type: "message", role: "assistant", content: "So." },
      { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });
});
