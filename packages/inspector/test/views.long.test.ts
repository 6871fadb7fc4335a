import { llmRequestAt } from "@moora/agent";
import type { ChatMessage } from "@moora/react";
import { describe, expect, it } from "vitest";
import { compareSessions, diffPositions } from "../src/session/compare.ts";
import { conversationAt } from "../src/session/conversation.ts";
import { positionViewAt } from "../src/session/position-view.ts";
import { requestJsonAt, requestViewAt } from "../src/session/request-view.ts";
import { parseQuery, search } from "../src/session/search.ts";
import { childrenAt, childrenPerPage, valueAt } from "../src/session/tree.ts";
import { corpus, exportOf, exportOfInputs, historyOf } from "./support.ts";

const textsOf = ({ parts }: ChatMessage): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

const long = "two-hundred-turns-with-calls-and-summaries";

describe("a position", () => {
  it.each(corpus)("%s can be shown at every record", (name) => {
    const history = historyOf(exportOf(name));
    const step = Math.max(1, Math.floor(history.length / 40));
    for (let seq = 0; seq <= history.length; seq += step) {
      const view = positionViewAt(history, seq);
      expect(JSON.parse(JSON.stringify(view))).toMatchObject({ seq, control: view.control });
      expect(view.graph.states).toContain(view.control);
      expect(view.record?.type).toBe(history.inputs[seq - 1]?.type);
    }
  });

  it("shows the messages of the user and of the agent, and the calls between them", () => {
    const history = historyOf(exportOf(long));
    const state = history.stateAt(history.length);
    const { items, omitted } = conversationAt(state, Number.MAX_SAFE_INTEGER);
    expect(omitted).toBe(0);
    const spoken = items.flatMap((item) =>
      item.kind === "message" && item.message.role === "user" ? textsOf(item.message) : [],
    );
    expect(spoken).toEqual(state.messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])));
    const calls = items
      .flatMap((item) => (item.kind === "message" ? item.message.parts : []))
      .flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    expect(calls.toSorted()).toEqual(Object.keys(state.toolCalls).toSorted());
  });
});

describe("a request", () => {
  const image = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
  const refused = { kind: "invalid-request", message: "No.", retryable: false, refusedBy: "vendor" } as const;

  it.each(corpus)("%s shows the request that the model got, with its stable beginning", (name) => {
    const history = historyOf(exportOf(name));
    for (const seq of history.modelCalls.slice(0, 60)) {
      const request = llmRequestAt(history.stateAt(seq));
      const view = requestViewAt(history, seq);
      expect(view?.sentAt).toBe(seq);
      expect(requestJsonAt(history, seq)).toBe(JSON.stringify(request, null, 2));
      const previous =
        view?.previousAt === undefined ? undefined : llmRequestAt(history.stateAt(view.previousAt));
      expect(JSON.stringify(request?.messages.slice(0, view?.stable))).toBe(
        JSON.stringify((previous?.messages ?? []).slice(0, view?.stable)),
      );
    }
  });

  it("says what it leaves out after its provider has refused it", () => {
    const history = historyOf(
      exportOfInputs([
        {
          type: "user-message-received",
          messageId: "m1",
          content: "Hi.",
          attachments: [image],
          timestamp: 1,
        },
        {
          type: "llm-call-failed",
          key: "plan/1/1/1",
          failure: { ...refused, blamesFiles: true },
          timestamp: 2,
        },
      ]),
    );
    expect(requestViewAt(history, 1)?.context?.leftOut).toEqual([]);
    expect(requestViewAt(history, 2)?.context?.leftOut).toEqual([
      "vendor refused the request with them: left out are files that it has refused.",
    ]);
  });

  it("is, after a model call, the one that the model got last", () => {
    const history = historyOf(exportOf("twenty-steps"));
    const [, second = 0] = history.modelCalls;
    const answered =
      history.inputs.findIndex(({ type }, index) => index >= second && type === "re-act-observed") + 1;
    expect(requestViewAt(history, answered - 1)?.sentAt).toBe(second);
    expect(requestViewAt(history, 0)).toBeUndefined();
  });
});

describe("the context of a request", () => {
  it.each(corpus)("%s has its parts for each step, and none for a summary", (name) => {
    const history = historyOf(exportOf(name));
    for (const seq of history.modelCalls.slice(0, 60)) {
      const view = requestViewAt(history, seq);
      expect(view?.context === undefined, `record ${seq}`).toBe(view?.purpose === "reflect");
    }
  });

  it("says what is left out and why, and where the provider does not find the request in its cache", () => {
    const history = historyOf(exportOf(long));
    const views = history.modelCalls.map((seq) => requestViewAt(history, seq));
    const steps = views.filter((view) => view?.purpose === "plan");
    const [first, second] = steps;
    expect(first).toMatchObject({ cache: undefined, stable: 0, context: { leftOut: [] } });
    expect(second).toMatchObject({ cache: "It extends the request before.", hasSameHead: true });
    for (const part of [
      "in its tools: load_older_messages, ",
      "a summary replaced messages.",
      "from message 1 on: the window begins at another message.",
    ])
      expect(steps.filter((view) => view?.cache?.includes(part)).length, part).toBeGreaterThan(0);
    expect(steps.filter((view) => view?.cache?.includes("another message is in its place"))).toEqual([]);
    expect(steps.at(-1)?.context?.leftOut).toEqual([
      expect.stringMatching(/^entries before the window: \d+$/),
      expect.stringMatching(/^entries that a summary replaces: \d+$/),
    ]);
  });
});

describe("a search", () => {
  const history = historyOf(exportOf(long));

  it("finds text anywhere in a record, in any case", () => {
    const found = search(history, parseQuery("USER-message"));
    expect(found).toEqual(
      history.rows.filter(({ type }) => type === "user-message-received").map(({ seq }) => seq),
    );
  });

  it("finds types, tools, states and marks, and all parts must match", () => {
    const completed = search(history, parseQuery("type:tool-call-completed"));
    expect(completed.length).toBeGreaterThan(0);
    const [name = ""] = Object.values(history.stateAt(history.length).toolCalls).map((call) => call.name);
    const ofTool = search(history, parseQuery(`tool:${name} type:tool-call-completed`));
    expect(ofTool.length).toBeGreaterThan(0);
    expect(completed).toEqual(expect.arrayContaining([...ofTool]));
    expect(search(history, parseQuery("tool:no-such-tool"))).toEqual([]);
    for (const seq of search(history, parseQuery("state:Acting")))
      expect(history.rows[seq - 1]?.state).toBe("Acting");
    for (const seq of search(history, parseQuery("is:failure")))
      expect(history.rows[seq - 1]?.marks).toBeGreaterThan(0);
  });

  it("takes signs of expressions as text", () => {
    expect(search(history, parseQuery(".*"))).toEqual([]);
    expect(parseQuery("is:nothing a")).toEqual({ text: "is:nothing a" });
  });
});

describe("a comparison", () => {
  it("of a position with itself has no differences, and with the next one has those of its record", () => {
    const history = historyOf(exportOf("twenty-steps"));
    expect(diffPositions(history, 5, 5).differences).toEqual([]);
    expect(diffPositions(history, 4, 5).differences.length).toBeGreaterThan(0);
  });

  it("of two sessions ends at the last record that both have", () => {
    const a = historyOf(exportOf("a-call-that-can-be-probed"));
    const b = historyOf(exportOf("a-call-that-can-be-probed-broken-off-after-record-5"));
    expect(compareSessions(a, a)).toMatchObject({
      common: { a: a.length, b: a.length },
      a: [],
      b: [],
      differences: [],
    });
    const { common } = compareSessions(a, b);
    expect(common.a).toBeGreaterThanOrEqual(3);
    expect(common.a).toBeLessThan(a.length);
  });
});

describe("the tree of a state", () => {
  it("marks exactly the path to what a record changed", () => {
    const history = historyOf(exportOf("twenty-steps"));
    const { state, before } = history.stepAt(2);
    const changed = childrenAt(state, before, []).nodes.filter(({ change }) => change !== "none");
    expect(changed.map(({ key }) => key)).toContain("messages");
    expect(changed.map(({ key }) => key)).not.toContain("config");
    const [message] = childrenAt(state, before, ["messages"]).nodes;
    expect(message).toMatchObject({ key: "0", kind: "object", change: "added" });
  });

  it("shows long lists page by page", () => {
    const list = Array.from({ length: 250 }, (_, index) => index);
    const page = childrenAt({ list }, { list: [] }, ["list"], 200);
    expect(page.total).toBe(250);
    expect(page.nodes.map(({ key }) => key)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(200 + index)),
    );
    expect(childrenAt({ list }, {}, ["list"]).nodes).toHaveLength(childrenPerPage);
    expect(valueAt({ list }, ["list", "7"])).toBe(7);
    expect(valueAt({ list }, ["__proto__", "x"])).toBeUndefined();
  });
});
