import {
  defineAgent,
  defineData,
  defineTool,
  exportSession,
  importSession,
  openSession,
  type Agent,
  type DurableSession,
} from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock, turn } from "@moora/testbed/test-clock";
import * as z from "zod";

const refunds = defineData({
  schema: z.object({ refunded: z.array(z.object({ order: z.string(), euros: z.number() })) }),
  initial: { refunded: [] },
});

const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  usage: { inputTokens, outputTokens, cachedInputTokens },
});

/** What the model of the sample does, from its first call in each process on. */
const beforeCrash: MockScript = [
  callsTools(
    [
      { name: "look_up_order", arguments: { order: "1042" } },
      { name: "refund_policy", arguments: { topic: "broken on arrival" } },
    ],
    { text: "I look up the order and the policy.", ...usage(812, 64) },
  ),
  callsTools([{ name: "refund", arguments: { order: "1042", euros: 59.9 } }], usage(1_034, 41, 812)),
];

const afterCrash: MockScript = [
  answers(
    "Order 1042 is refunded: 59.90 euros go back to your card within three days. Sorry for the broken lamp!",
    usage(1_190, 38, 1_034),
  ),
  fails("overloaded"),
  callsTools([{ name: "look_up_order", arguments: { order: "2077" } }], usage(1_301, 22, 1_190)),
  callsTools([{ name: "refund", arguments: { order: "2077", euros: 480 } }], usage(1_366, 24, 1_301)),
  answers(
    "I found no order 2077, and my colleague did not approve a refund without one. Could you check the number?",
    usage(1_470, 35, 1_366),
  ),
];

/** The agent of the sample. `pay` runs a refund. */
export const sampleAgent = (
  script: MockScript,
  pay: (order: string) => Promise<string>,
  name = "support",
): Agent<unknown> =>
  defineAgent({
    name,
    llm: new MockLlmCaller(script),
    data: refunds,
    config: {
      systemPrompt: "You are the support of a shop for lamps. Be brief and kind.",
      approval: { policy: { above: "high" } },
      budget: { maxTotalTokens: 50_000, maxTotalCost: 0.5 },
      prices: { default: { input: 2, cachedInput: 0.5, output: 8 } },
    },
    tools: [
      defineTool({
        name: "look_up_order",
        description: "Looks up an order by its number.",
        replay: "safe",
        input: z.object({ order: z.string() }),
        execute: ({ order }) => {
          if (order === "2077") throw new Error("Order 2077 does not exist.");
          return { order, item: "Lamp Aurora", euros: 59.9, deliveredOn: "2026-03-02" };
        },
      }),
      defineTool({
        name: "refund_policy",
        description: "Returns the policy about a topic.",
        replay: "safe",
        input: z.object({ topic: z.string() }),
        execute: () => "What arrives broken is refunded in full within 30 days.",
      }),
      defineTool({
        name: "refund",
        description: "Pays the price of an order back.",
        risk: "high",
        replay: "keyed",
        input: z.object({ order: z.string(), euros: z.number() }),
        data: refunds,
        execute: async ({ order, euros }, { update }) => {
          const receipt = await pay(order);
          update((draft) => {
            draft.refunded.push({ order, euros });
          });
          return receipt;
        },
      }),
    ],
  });

const startsAt = Date.UTC(2026, 2, 4, 9, 30);

/** Answers the next question of a session after some minutes. */
async function decide(session: DurableSession<unknown>, clock: TestClock, approves: boolean): Promise<void> {
  while (session.questions().length === 0) await turn();
  clock.advance(4 * 60_000);
  const [question] = session.questions();
  if (question !== undefined)
    await session.decide(question, approves ? "approve" : { reject: "There is no such order." }, "maria");
}

/**
 * An exported session with one of everything that the inspector marks: calls at the same time, an approval, a crash in the middle
 * of a refund, a take-over by another process, a model call that is retried, a failed tool and a rejected call.
 */
export async function sampleSession(): Promise<string> {
  const clock = new TestClock(startsAt);
  const first = memoryLog();
  const crashing = await openSession(sampleAgent(beforeCrash, hangs), {
    log: first,
    id: "refund-1042",
    owner: "server-1",
    clock,
  });
  crashing.onEvent(() => undefined);
  void crashing.send("My lamp arrived broken. Please refund order 1042.");
  await decide(crashing, clock, true);
  while (!(await bodyOfLast(first)).includes("tool-call-started")) await turn();
  // The process ends here: what it has written is all that the next one has.
  const log = memoryLog();
  await importSession(log, await exportSession(first, "refund-1042"));
  clock.advance(90_000);
  const session = await openSession(
    sampleAgent(afterCrash, async (order) => `refund-${order} is paid`),
    {
      log,
      id: "refund-1042",
      owner: "server-2",
      clock,
    },
  );
  session.onEvent(() => undefined);
  while (session.current().reActContext.control.type !== "Done") await turn();
  clock.advance(45_000);
  void session.send("And order 2077? It cost 480 euros.");
  while (!waitsForRetry(session)) await turn();
  await clock.advanceAsync(2_000);
  await decide(session, clock, false);
  while (session.current().reActContext.control.type !== "Done") await turn();
  const text = await exportSession(log, "refund-1042");
  await session.close();
  await crashing.close();
  return text;
}

function waitsForRetry(session: DurableSession<unknown>): boolean {
  const { control } = session.current().reActContext;
  return control.type === "Planning" && control.retryAt !== null;
}

const hangs = (): Promise<string> => new Promise(() => undefined);

const bodyOfLast = async (log: EventLog): Promise<string> =>
  (await (await log.open("refund-1042"))?.read())?.at(-1)?.body ?? "";
