import {
  askHuman,
  defineAgent,
  defineData,
  defineTool,
  exportSession,
  openSession,
  parsePortable,
} from "@moora/agent";
import {
  asked,
  callsMade,
  decided,
  interrupted,
  llmStarted,
  opened,
  replayPortable,
  started,
} from "@moora/agent-testing";
import { digestOf, memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { readExport } from "../src/session/read-export.ts";
import { redactedExport } from "../src/session/redact.ts";
import { forkCommand, goldenTest } from "../src/session/commands.ts";
import { goldenLog, transcriptTest } from "../src/session/test-text.ts";
import { corpus, exportOf, exportOfInputs, historyOf } from "./support.ts";

describe("a golden log", () => {
  it.each(corpus.slice(0, 12))("%s is cut at any record, and replays", async (name) => {
    const text = exportOf(name);
    const history = historyOf(text);
    const seq = Math.ceil(history.length / 2);
    const cut = goldenLog(history, readExport(text).headerText, seq) ?? "";
    expect(parsePortable(cut).records).toHaveLength(seq);
    await expect(replayPortable(cut)).resolves.toMatchObject({ inputs: { length: seq } });
    expect(goldenLog(history, readExport(text).headerText, history.length)).toBe(text);
  });

  it("is not made of records that were streamed without digests", () => {
    const history = historyOf(exportOf("twenty-steps"));
    history.append({ seq: history.length + 1, body: '{"type":"session-opened","owner":"b","timestamp":9}' });
    expect(goldenLog(history, "{}", history.length)).toBeUndefined();
  });
});

describe("a transcript", () => {
  it.each(corpus.slice(0, 16))("%s is a test that passes, at any record", async (name) => {
    const history = historyOf(exportOf(name));
    for (const seq of [0, Math.floor(history.length / 2), history.length]) {
      const run = programOf(transcriptTest(history, seq));
      expect(await run()).toBe(1);
    }
  });
});

/** The program of a test, which returns the number of its cases. */
function programOf(text: string): () => Promise<number> {
  return async () => {
    const { givenAgent } = await import("@moora/agent-testing");
    let count = 0;
    const test = (_name: string, check: () => void): void => {
      check();
      count += 1;
    };
    const body = text.split("\n").filter((line) => !line.startsWith("import "));
    // The text was made by the function under test.
    // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
    new Function("givenAgent", "it", body.join("\n"))(givenAgent, test);
    return count;
  };
}

describe("what is copied", () => {
  it("quotes names for the shell and for a test", () => {
    expect(forkCommand("ada", 4)).toBe("moora fork ada --at 4 --to ada-fork");
    const quoted = String.raw`$'a\u001b[201~\u0027b'`;
    expect(forkCommand("a\u001B[201~'b", 4)).toBe(
      `moora fork ${quoted} --at 4 --to ${quoted.replace(/'$/, "-fork'")}`,
    );
    expect(forkCommand("a'b; rm", 4)).toBe(String.raw`moora fork 'a'\''b; rm' --at 4 --to 'a'\''b; rm-fork'`);
    expect(goldenTest('a"b', "runs/a.jsonl")).toContain(String.raw`"a\"b still replays"`);
  });
});

describe("a redacted session", () => {
  it.each(corpus)("%s walks the same way and has no text of people, models and tools", async (name) => {
    const history = historyOf(exportOf(name));
    const text = redactedExport(history, { what: "texts" });
    const redacted = historyOf(text);
    expect(redacted.rows.map(({ state }) => state)).toEqual(history.rows.map(({ state }) => state));
    expect(parsePortable(text).records).toHaveLength(history.length);
    for (const { content } of history.stateAt(history.length).messages)
      if (content.length > 12) expect(text).not.toContain(JSON.stringify(content).slice(1, -1));
  });

  it("hides words wherever they are, also in arguments, which stay JSON", () => {
    const history = historyOf(exportOf("twenty-steps"));
    const [word = ""] = history
      .stateAt(history.length)
      .messages.map(({ content }) => content.split(/\s/)[0] ?? "");
    const text = redactedExport(history, { what: "words", words: [word, ""] });
    expect(word.length).toBeGreaterThan(2);
    expect(
      parsePortable(text).records.some(({ body }) => body.toLowerCase().includes(`"${word.toLowerCase()}`)),
    ).toBe(false);
    expect(redactedExport(history, { what: "words", words: [] })).toContain(word);
  });

  it.each([{ what: "texts" }, { what: "words", words: ["Lovelace"] }] as const)(
    "hides $what in arguments, data, files and trace notes also where the fields have the names of those of the machine",
    async (redaction) => {
      const history = historyOf(await orderOfLovelace());
      const text = redactedExport(history, redaction);
      expect(text).not.toMatch(/lovelace/i);
      expect(historyOf(text).rows.map(({ state }) => state)).toEqual(history.rows.map(({ state }) => state));
    },
  );
});

describe("the files of a redacted session", () => {
  const secret = btoa("The password is hunter2.");
  const digest = `ni:///sha-256;${digestOf("hunter2").padEnd(43, "A").slice(0, 43)}`;

  it.each([{ what: "texts" }, { what: "words", words: ["hunter2"] }] as const)(
    "are hidden as a whole, in URLs with their contents and in those with their digests: $what",
    async (redaction) => {
      const text = redactedExport(historyOf(await sessionWithFiles()), redaction);
      expect(text).not.toContain(secret);
      expect(text).not.toContain("hunter2");
      expect(text).not.toContain("ni:///");
      const { messages } = historyOf(text).last;
      expect(messages[0]).toMatchObject({
        attachments: [{ mediaType: "text/plain" }, { mediaType: "text/plain" }, { mediaType: "image/png" }],
      });
      if (redaction.what === "words") expect(messages[0]?.content).toMatch(/^See ▮+ and ▮+, please\.$/);
    },
  );

  /** A conversation about three files, which a message also quotes. */
  async function sessionWithFiles(): Promise<string> {
    const log = memoryLog();
    const agent = defineAgent({
      llm: new MockLlmCaller([answers(`It is in data:text/plain;base64,${secret}`)]),
    });
    await using session = await openSession(agent, { log, id: "files" });
    await session.ask({
      content: `See data:text/plain;base64,${secret} and ${digest}, please.`,
      attachments: [
        { mediaType: "text/plain", url: `data:text/plain;base64,${secret}`, name: "hunter2.txt" },
        { mediaType: "text/plain", url: "data:text/plain,%68unter2" },
        { mediaType: "image/png", url: digest },
      ],
    });
    return await exportSession(log, "files");
  }
});

describe("the digests of a redacted session", () => {
  it.each([{ what: "texts" }, { what: "words", words: ["1234"] }] as const)(
    "are others, so that no short text can be guessed by them: $what",
    async (redaction) => {
      const exported = await answeredPin();
      const history = historyOf(exported);
      const digests = history.inputs.flatMap((input) => digestsIn(input));
      expect(new Set(digests).size).toBe(4);
      const text = redactedExport(history, redaction);
      expect(digests.filter((digest) => text.includes(digest))).toEqual([]);
      expect(marksOf(text)).toEqual(marksOf(exported));
    },
  );

  it("replace the arguments that bind a decision in an old log, whose calls have no digests", () => {
    const [first, changed] = ['{"iban":"DE021"}', '{"iban":"DE022"}'] as const;
    const boundTo = (parameters: string): string => JSON.stringify(["refund", parameters]);
    const calls = callsMade("plan/1/1/1", { call_1: { name: "refund", parameters: first, digest: "none" } });
    const text = exportOfInputs([
      opened("server"),
      asked("Refund it."),
      llmStarted("plan/1/1/1"),
      JSON.parse(JSON.stringify(calls).replace(',"digest":"none"', "")),
      decided("call_1", { modified: changed }, { digest: boundTo(first) }),
      started("call_1"),
      interrupted("call_1", "unknown"),
      decided("call_1", "failed", { digest: `${boundTo(changed)}#2` }),
    ]);
    const history = historyOf(text);
    expect(history.rows.map(({ state }) => state).slice(-5)).toEqual([
      "WaitingForHuman",
      "Acting",
      "Acting",
      "WaitingForHuman",
      "Planning",
    ]);
    const redacted = redactedExport(history, { what: "texts" });
    expect(redacted).not.toContain("DE02");
    expect(marksOf(redacted)).toEqual(marksOf(text));
  });
});

/** The control states and the marks of all records. */
const marksOf = (text: string): unknown => historyOf(text).rows.map(({ state, marks }) => [state, marks]);

/** The digests of calls, questions and posts in an input. */
function digestsIn(value: unknown, key = ""): readonly string[] {
  if (typeof value === "string") {
    return key === "digest" || key === "requestId" || value.startsWith("post_")
      ? value.split(/post_|[.#]/).filter((part) => part.length > 0)
      : [];
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, field]) => digestsIn(field, name))
    : [];
}

/** An exported session in which a person answers a question with four digits, posted as a server does it. */
async function answeredPin(): Promise<string> {
  const llm = new MockLlmCaller([
    callsTools([{ name: "ask_human", arguments: { question: "Which PIN?" } }]),
    answers("Thank you."),
  ]);
  const log = memoryLog();
  await using session = await openSession(defineAgent({ llm, tools: [askHuman()] }), { log, id: "pin" });
  session.onEvent((event) => {
    if (event.type === "ApprovalRequested")
      void session.decide(event, { answer: "1234" }, "ada", `${digestOf("ada")}.${digestOf("1234")}`);
  });
  await session.dispatch({
    type: "user-message-received",
    messageId: `post_${digestOf("ada", "1")}`,
    content: "Unlock it.",
    timestamp: 1,
  });
  while (session.current().reActContext.control.type !== "Done") await turn();
  return await exportSession(log, "pin");
}

/** An exported session in which a private name is the value of fields such as `name`, `to` and `path`. */
async function orderOfLovelace(): Promise<string> {
  const secrets = { name: "Ada Lovelace", to: "lovelace@example.com", path: ["lovelace"], code: "Lovelace" };
  const order = defineData({ schema: { type: "object" }, initial: { customer: { ...secrets } } });
  const send = defineTool({
    name: "send",
    description: "Sends an order.",
    input: { type: "object" },
    data: order,
    execute: (_, { update }) => {
      update((draft) => void Object.assign(draft as object, { sent: { ...secrets, config: secrets } }));
      return "Sent.";
    },
  });
  const llm = new MockLlmCaller([
    callsTools([{ name: "send", arguments: { ...secrets, config: secrets } }]),
    answers("Done."),
  ]);
  const log = memoryLog();
  const agent = defineAgent({
    llm,
    tools: [send],
    data: order,
    config: {
      graph: {
        states: ["Check"],
        rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Good: "Done" } },
        terminals: [],
      },
    },
    states: { Check: () => ({ event: "Good", trace: { text: "Lovelace is known.", data: secrets } }) },
  });
  await using session = await openSession(agent, { log, id: "order" });
  const attachments = [{ mediaType: "text/plain", url: "data:,", name: "lovelace.txt" }];
  await session.ask({ content: "Send it.", attachments });
  return await exportSession(log, "order");
}
