import { describe, expect, it } from "vitest";
import {
  chunkEventSchema,
  dataBodySchema,
  decisionBodySchema,
  forkBodySchema,
  inputEventSchema,
  messageBodySchema,
  problemSchema,
  receiptSchema,
  sessionPageSchema,
} from "../src/index.ts";

const decided = (decision: unknown) => ({ toolCallId: "call", digest: "digest", decision });

describe("the body of a decision", () => {
  it.each([
    "approve",
    { reject: "No." },
    { approve: null },
    { approve: { cents: 5 } },
    { answer: 0 },
    { outcome: "run-again" },
    { outcome: "worked", result: "paid" },
    { outcome: "failed" },
    { outcome: "unknown", reason: "Not found." },
  ])("has each form of a decision: %j", (decision) => {
    expect(decisionBodySchema.parse(decided(decision))).toEqual(decided(decision));
  });

  it.each([
    "deny",
    {},
    { approve: undefined },
    { reject: 5 },
    { outcome: "worked" },
    { approve: 1, reject: "x" },
    null,
  ])("has no other form: %j", (decision) => {
    expect(decisionBodySchema.safeParse(decided(decision)).success).toBe(false);
  });

  it("does not name the reviewer", () => {
    expect(decisionBodySchema.safeParse({ ...decided("approve"), by: "boss" }).success).toBe(false);
  });
});

describe("the other schemas", () => {
  it("take what a server and a client send", () => {
    for (const [schema, value] of [
      [messageBodySchema, { content: "Hi", attachments: [{ mediaType: "image/png", url: "data:," }] }],
      [dataBodySchema, { patches: [{ op: "test", path: "/a", value: false }] }],
      [
        dataBodySchema,
        { patches: [{ op: "remove", path: "/a" }], base: { seq: 7, incarnation: "i", digest: "d" } },
      ],
      [forkBodySchema, {}],
      [forkBodySchema, { at: 0 }],
      [receiptSchema, { status: "accepted", seq: 7 }],
      [receiptSchema, { status: "ignored", reason: "already-decided", decidedBy: "ada" }],
      [problemSchema, { type: "about:blank", title: "Not found", status: 404, code: "not-found" }],
      [sessionPageSchema, { sessions: [{ id: "s_1", agent: "helper", seq: 0 }], next: null }],
      [sessionPageSchema, { sessions: [{ id: "s_1", agent: "helper", seq: 1, updatedAt: 5 }], next: "s_1" }],
      [inputEventSchema, { seq: 1, input: { type: "session-opened", timestamp: 5, owner: "a" } }],
      [chunkEventSchema, { type: "text", messageId: "m", offset: 0, text: "Hi" }],
      [chunkEventSchema, { type: "reasoning", messageId: "m", part: 1, offset: 0, text: "Hm" }],
      [chunkEventSchema, { type: "tool-call", messageId: "m", toolCallId: "call_1", name: "pay" }],
      [
        chunkEventSchema,
        { type: "tool-call-delta", messageId: "m", toolCallId: "call_1", offset: 2, text: "{}" },
      ],
      [chunkEventSchema, { type: "part-end", messageId: "m", part: 2, toolCallId: "call_1" }],
    ] as const)
      expect(schema.parse(value)).toEqual(value);
  });

  it.each([
    [dataBodySchema, { patches: [] }],
    [dataBodySchema, { patches: [{ op: "remove", path: "/a" }], base: {} }],
    [dataBodySchema, { patches: [{ op: "move", from: "/a", path: "/b" }] }],
    [messageBodySchema, { text: "Hi" }],
    [forkBodySchema, { at: -1 }],
    [forkBodySchema, { id: "mine" }],
    [receiptSchema, { status: "accepted", seq: -1 }],
  ])("refuse other values", (schema, value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});
