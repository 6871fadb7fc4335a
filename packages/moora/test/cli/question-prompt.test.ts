import type { Decision, Question, Receipt } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { createLineReader } from "../../src/cli/terminal/line-reader.ts";
import { QuestionPrompt } from "../../src/cli/questions/question-prompt.ts";
import { Screen } from "../../src/cli/terminal/screen.ts";
import { TestHost } from "./test-host.ts";

const question: Question = {
  toolCallId: "call_1",
  about: "approval",
  name: "pay",
  parameters: { euros: 5 },
  digest: "d",
  risk: "high",
  reason: "risk",
  due: null,
  reminder: 0,
  escalated: false,
};
const prompt = "Allow it? [y]es, [n]o, [a]lways, [e]dit: ";

/** Asks the question; `answers` are what the session says to the decisions, one after the other. */
async function asked(answers: readonly (Receipt | Error)[], lines: readonly string[]) {
  const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" } });
  const source = createLineReader(host, () => undefined);
  const decisions: Decision[] = [];
  const settled = Promise.withResolvers<void>();
  new QuestionPrompt(source, new Screen(host)).ask(question, new AbortController().signal, {
    decide: (_, decision) => {
      const answer = answers[decisions.push(decision) - 1];
      if (answer instanceof Error) return Promise.reject(answer);
      const receipt: Receipt = answer ?? { status: "accepted", seq: 1 };
      if (receipt.status === "accepted") settled.resolve();
      return Promise.resolve(receipt);
    },
    isOpen: () => true,
    interrupt: () => undefined,
    inputEnded: () => undefined,
  });
  for (const line of lines) {
    await host.stderr.showsPrompt(prompt);
    host.stdin.write(`${line}\r`);
    await new Promise(setImmediate);
  }
  await settled.promise;
  return { text: host.stderr.text, decisions };
}

it("is shown with the risk of the call, and why it is asked", async () => {
  const { text } = await asked([], ["y"]);
  expect(text).toContain("Risk: high. Asked because the approval policy asks about calls of this risk.\n");
});

describe("a decision that is not accepted leaves the question on the screen", () => {
  it("with the reason why it was ignored", async () => {
    const { text, decisions } = await asked([{ status: "ignored", reason: "wrong-decision" }], ["y", "n no"]);
    expect(text).toContain("The decision was ignored: wrong-decision.\n");
    expect(decisions).toEqual(["approve", { reject: "no" }]);
  });

  it("where it could not be recorded", async () => {
    const { text, decisions } = await asked([new Error("The disk is full.")], ["y", "y"]);
    expect(text).toContain("The decision was not recorded: The disk is full.\n");
    expect(decisions).toEqual(["approve", "approve"]);
  });

  it("also if it applies to all calls of the tool", async () => {
    const { decisions } = await asked([new Error("The disk is full.")], ["a", "n no"]);
    expect(decisions).toEqual(["approve", { reject: "no" }]);
  });
});
