import { liveKeyOf, viewerTextOf, type ViewerText } from "@moora/agent/internal";
import { describe, expect, it } from "vitest";

const viewed = { session: "key", messageId: null, length: 0, isAsked: false, isNew: true };

describe("a text of the viewers of sessions", () => {
  it.each<ViewerText>([
    { type: "view", server: "one", sessions: [viewed, { ...viewed, messageId: "m1", length: 7 }] },
    { type: "leave", server: "one", sessions: ["key"] },
    { type: "ask", session: "key" },
  ])("is read as it was sent: %j", (text) => {
    expect(viewerTextOf(JSON.stringify(text))).toEqual(text);
  });

  it.each([
    "no JSON",
    "null",
    "[]",
    "{}",
    '{"type":"ask"}',
    '{"type":"ask","session":1}',
    '{"type":"other","server":"one","sessions":[]}',
    '{"type":"leave","server":1,"sessions":[]}',
    '{"type":"leave","server":"one","sessions":[1]}',
    '{"type":"leave","server":"one"}',
    '{"type":"view","server":"one","sessions":["key"]}',
    JSON.stringify({ type: "view", server: "one", sessions: [{ ...viewed, length: -1 }] }),
    JSON.stringify({ type: "view", server: "one", sessions: [{ ...viewed, messageId: 1 }] }),
  ])("of another form is left out: %s", (text) => {
    expect(viewerTextOf(text)).toBeUndefined();
  });
});

describe("the key of a session", () => {
  it("differs for another session with its id", () => {
    expect(new Set([liveKeyOf("a", "one"), liveKeyOf("a", "two"), liveKeyOf("a", undefined)]).size).toBe(3);
    expect(liveKeyOf("a", undefined)).toBe(liveKeyOf("a", ""));
  });
});
