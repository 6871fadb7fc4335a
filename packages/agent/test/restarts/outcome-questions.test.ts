import { HeardErrors } from "@moora/testbed/durable/errors";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  type Agent,
  type Decision,
  type DurableSession,
  type ErrorListener,
  type OnApproval,
} from "../../src/index.ts";
import { callsThenAnswers, never, questionOf, Restarts, resultOf, textOf, turns } from "./restarts.ts";
import { toolOf } from "@moora/testbed/tool-of";

const wireAgent = (ran: number[]): Agent =>
  defineAgent({
    llm: callsThenAnswers({ name: "wire", arguments: { euros: 9 } }),
    tools: [
      defineTool({
        name: "wire",
        description: "Wires money.",
        input: z.object({ euros: z.number() }),
        onUnknown: "ask",
        execute: (_, { attempt }) => {
          ran.push(attempt);
          return attempt === 1 ? never() : "wired";
        },
      }),
    ],
  });

/** A session whose call was interrupted after it had started, and whose outcome is asked about. */
async function asking(
  ran: number[],
  onApproval?: OnApproval,
  onError?: ErrorListener,
): Promise<{ readonly session: DurableSession; readonly world: Restarts }> {
  const world = new Restarts();
  await world.crash(wireAgent(ran));
  const session = await world.open(wireAgent(ran), {
    ...(onApproval === undefined ? {} : { onApproval }),
    ...(onError === undefined ? {} : { onError }),
  });
  return { session, world };
}

describe("a question about an unknown outcome", () => {
  it.each<{ decision: Decision; runs: number; code: string | undefined; text: RegExp; recorded: string }>([
    { decision: { outcome: "run-again" }, runs: 2, code: undefined, text: /^wired$/, recorded: "run-again" },
    {
      decision: { outcome: "worked", result: { receipt: 77 } },
      runs: 1,
      code: undefined,
      text: /^\{"receipt":77\}$/,
      recorded: "worked",
    },
    {
      decision: { outcome: "failed", reason: "The bank refused." },
      runs: 1,
      code: "reported-failed",
      text: /A person reports that this call failed: The bank refused\./,
      recorded: "failed",
    },
    {
      decision: { outcome: "unknown" },
      runs: 1,
      code: "outcome-unknown",
      text: /may have had its effect\. A person was asked and does not know it either/,
      recorded: "unknown",
    },
  ])("takes $decision", async ({ decision, runs, code, text, recorded }) => {
    const ran: number[] = [];
    const { session } = await asking(ran);
    expect(questionOf(session).about).toBe("outcome");
    expect(await session.decide(questionOf(session), decision, "ada")).toMatchObject({ status: "accepted" });
    await turns();
    const { toolCalls, reActContext } = session.current();
    expect(ran).toHaveLength(runs);
    expect(reActContext.control.type).toBe("Done");
    expect(textOf(resultOf(session.current()))).toMatch(text);
    expect(toolCalls["call_1"]).toMatchObject({ decision: { type: recorded, by: "ada" } });
    const result = resultOf(session.current());
    expect(result?.isSuccess === false ? result.code : undefined).toBe(code);
    await session.close();
  });

  it.each<Decision>(["approve", { approve: { euros: 1 } }, { reject: "no" }, { answer: "yes" }])(
    "does not take %j, and stays open",
    async (decision) => {
      const ran: number[] = [];
      const { session } = await asking(ran);
      const receipt = await session.decide(questionOf(session), decision);
      expect(receipt).toMatchObject({ status: "ignored", reason: "wrong-decision" });
      expect(questionOf(session).about).toBe("outcome");
      expect(ran).toEqual([1]);
      await session.close();
    },
  );

  it("names no person to the model if no reviewer is available", async () => {
    const { session } = await asking([]);
    const reason = "No reviewer is available.";
    await session.decide(questionOf(session), { outcome: "unknown", reason }, "no-reviewer");
    await turns();
    expect(textOf(resultOf(session.current()))).toMatch(
      /may have had its effect\. No reviewer is available\./,
    );
    expect(textOf(resultOf(session.current()))).not.toContain("person");
    await session.close();
  });

  it("is not answered by a handler that approves everything: the outcome stays unknown, and nothing runs twice", async () => {
    const ran: number[] = [];
    const errors = new HeardErrors();
    const { session } = await asking(ran, () => "approve", errors.onError);
    expect(errors.codes).toEqual(["InputRefused"]);
    expect(ran).toEqual([1]);
    expect(resultOf(session.current())).toMatchObject({ code: "outcome-unknown" });
    await session.close();
  });

  it("is answered by a handler that looks at what is asked", async () => {
    const ran: number[] = [];
    const { session } = await asking(ran, ({ about }) =>
      about === "outcome" ? { outcome: "worked", result: "receipt 77" } : "approve",
    );
    expect(ran).toEqual([1]);
    expect(textOf(resultOf(session.current()))).toBe("receipt 77");
    await session.close();
  });

  it.each([{ outcome: "maybe" }, { outcome: "worked" }, { outcome: "failed", reason: 7 }])(
    "refuses %j, which is not a decision, and stays open",
    async (decision) => {
      const { session } = await asking([]);
      await expect(
        session.decide(questionOf(session), JSON.parse(JSON.stringify(decision))),
      ).rejects.toMatchObject({ code: "invalid-decision" });
      expect(questionOf(session).about).toBe("outcome");
      await session.close();
    },
  );
});

describe("an approval", () => {
  it("does not take an outcome", async () => {
    const tool = toolOf("wire", () => "wired", { approval: "always" });
    await using session = await new Restarts().open(
      defineAgent({ llm: callsThenAnswers({ name: "wire" }), tools: [tool] }),
    );
    session.ask("go").then(undefined, () => undefined);
    await turns();
    const receipt = await session.decide(questionOf(session), { outcome: "run-again" });
    expect(receipt).toMatchObject({ status: "ignored", reason: "wrong-decision" });
    expect(questionOf(session).about).toBe("approval");
  });
});
