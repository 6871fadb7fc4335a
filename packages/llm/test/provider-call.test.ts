import { describe, expect, it } from "vitest";
import { noUsage, type LlmCallOptions, type LlmOutcome, type LlmRequest } from "@moora/llm";
import {
  callProvider,
  StreamFaultError,
  failureOf,
  normalizeRequest,
  type AnswerReader,
  type ConnectionOptions,
  type Protocol,
} from "@moora/llm/adapter";
import { requestOf, turnOf, userMessage } from "./fixtures.ts";

interface Body {
  readonly model: string;
  readonly origin: string;
  readonly neutral: boolean;
}

/** A protocol whose answers have one event. */
function protocolOf(known: Partial<Protocol<Body, string>> = {}): Protocol<Body, string> {
  return {
    provider: "toy",
    api: "talk",
    baseURL: "https://user:secret@toy.test/v1",
    sendsIdempotencyKey: true,
    requestToBody: ({ model, ...request }, { origin, neutral = false }) => ({
      body: { model, origin, neutral },
      normalized: normalizeRequest({ model, ...request }, { origin, neutral }),
      warnings: [],
    }),
    open: async (body) => answer(`${body.model} at ${body.origin}`),
    reader: ({ origin, normalized }) => readerOf((text) => ok(origin, normalized.nameOf(text))),
    errorToBody: () => undefined,
    rejectsEncryption: ({ kind }) => kind === "invalid-request",
    ...known,
  };
}

async function* answer(...events: readonly string[]): AsyncGenerator<string> {
  yield* events;
}

const ok = (origin: string, text: string): LlmOutcome => ({
  ok: true,
  turn: { origin, parts: [{ type: "text", text }] },
  model: "toy-1",
  usage: noUsage,
  finish: { unified: "stop", raw: "stop" },
});

const readerOf = (end: (text: string) => LlmOutcome): AnswerReader<Body, string> => {
  let text = "";
  return {
    add: (event) => {
      text += event;
      return true;
    },
    partial: () => text,
    usage: () => undefined,
    outcome: () => end(text),
  };
};

const callWith = (
  known: Partial<Protocol<Body, string>>,
  connection: ConnectionOptions = {},
  request: Partial<LlmRequest> = {},
  options: LlmCallOptions = {},
): Promise<LlmOutcome> => callProvider(protocolOf(known), connection, requestOf(request), options);

const textOf = (outcome: LlmOutcome): string => {
  const part = outcome.ok ? outcome.turn.parts[0] : undefined;
  return part?.type === "text" ? part.text : JSON.stringify(outcome);
};

const throwingConversion = (): never => {
  throw new Error("cannot map some-key for secret");
};

/** Rejects requests that ask for encrypted reasoning. */
const rejectingRaw: Protocol<Body, string>["reader"] = ({ origin }) =>
  readerOf((text) =>
    text === "ok"
      ? ok(origin, text)
      : { ok: false, failure: failureOf("invalid-request", "the signature is wrong"), partial: "" },
  );

/** Pauses the answer once. */
const pausing: Protocol<Body, string>["reader"] = ({ origin }) => ({
  ...readerOf((text) => ok(origin, text)),
  continuation: (body) => (body.model === "some-model" ? { ...body, model: "again" } : undefined),
});

describe("a call through a protocol", () => {
  it("needs no base URL where the client knows the address: messages name the provider", async () => {
    expect(textOf(await callWith({ baseURL: undefined }))).toBe("some-model at toy/talk/some-model");
    const silent: Partial<Protocol<Body, string>> = { baseURL: undefined, open: async () => answer() };
    expect(await callWith(silent)).toMatchObject({
      failure: { kind: "empty", message: "toy sent an empty answer." },
    });
  });

  it("uses the model of the request, otherwise that of the caller, and an origin without secrets", async () => {
    expect(textOf(await callWith({}))).toBe("some-model at toy/talk/toy.test/some-model");
    expect(textOf(await callWith({}, { model: "mine" }, { model: "" }))).toBe(
      "mine at toy/talk/toy.test/mine",
    );
  });

  it("fails if no model is configured", async () => {
    expect(await callWith({}, {}, { model: "" })).toMatchObject({
      failure: {
        kind: "invalid-request",
        message: "toy: missing model. Set model in the request or options.",
      },
    });
  });

  it("converts an error in the adapter to a failure without secrets", async () => {
    expect(await callWith({ requestToBody: throwingConversion }, { apiKey: "some-key" })).toEqual({
      ok: false,
      failure: failureOf("unknown", "toy: Error: cannot map [secret] for [secret]"),
      partial: "",
    });
  });

  it("does not send what was refused again to the same conversation if it is equal on the wire", async () => {
    let sent = 0;
    const open: Protocol<Body, string>["open"] = () => {
      sent += 1;
      const body = JSON.stringify({ error: { type: "invalid_request_error", message: "Bad image." } });
      throw new StreamFaultError({ type: "response", status: 400, headers: new Headers(), body });
    };
    const known = { open, rejectsEncryption: () => false };
    const connection: ConnectionOptions = {};
    const failure = { kind: "invalid-request", refusedBy: "toy/talk/toy.test/some-model" };
    for (const text of ["Hello", "Not on the wire"]) {
      const request = { messages: [userMessage(text)] };
      expect(await callWith(known, connection, request, { cacheKey: "a" })).toMatchObject({ failure });
    }
    expect(sent).toBe(1);
    await callWith(known, connection, {}, { cacheKey: "b" });
    await callWith(known, connection, { model: "other" }, { cacheKey: "b" });
    await callWith(known, connection);
    await callWith(known, connection);
    expect(sent).toBe(5);
  });

  it("sends the idempotency key only if it is supported, and another key with another body", async () => {
    const keys: (string | undefined)[] = [];
    const open: Protocol<Body, string>["open"] = async ({ neutral }, { headers }) => {
      keys.push(headers["idempotency-key"]);
      return answer(neutral ? "ok" : "rejected");
    };
    const origin = "toy/talk/toy.test/some-model";
    const reasoningPart = { type: "reasoning", text: "hm", raw: 1 } as const;
    const messages = [
      userMessage("Hello"),
      turnOf([reasoningPart, { type: "text", text: "so" }], [], origin),
    ];
    const options = { idempotencyKey: "plan/1" };
    const outcome = await callWith({ open, reader: rejectingRaw }, {}, { messages }, options);
    expect(outcome).toMatchObject({
      ok: true,
      warnings: ["reasoning was rejected and left out: the signature is wrong"],
    });
    expect(keys).toEqual(["plan/1", "plan/1-neutral"]);
    await callWith({ open, sendsIdempotencyKey: false }, {}, {}, options);
    expect(keys[2]).toBeUndefined();
  });

  it("continues a paused answer with another idempotency key", async () => {
    const keys: (string | undefined)[] = [];
    const open: Protocol<Body, string>["open"] = async ({ model }, { headers }) => {
      keys.push(headers["idempotency-key"]);
      return answer(`${model} `);
    };
    expect(textOf(await callWith({ open, reader: pausing }, {}, {}, { idempotencyKey: "k" }))).toBe(
      "some-model again ",
    );
    expect(keys).toEqual(["k", "k-1"]);
  });

  it("generates an id for a tool call without one", async () => {
    const call = { type: "tool-call", id: "", name: "add", arguments: "{}" } as const;
    const reader: Protocol<Body, string>["reader"] = ({ origin }) =>
      readerOf(() => {
        const outcome = ok(origin, "");
        return outcome.ok
          ? { ...outcome, turn: { origin, parts: [call, { ...call, id: "b" }, call] } }
          : outcome;
      });
    expect(await callWith({ reader })).toMatchObject({
      turn: { parts: [{ id: "call_0" }, { id: "b" }, { id: "call_2" }] },
    });
  });
});
