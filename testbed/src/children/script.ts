/**
 * A script as a user writes it: `script.ts MANNER FOLDER`. It never closes its session. By its manner it waits in a tool
 * for ever, awaits one answer, waits for a tool whose own timer does not keep a process alive, asks a human, or posts.
 */
import { writeSync } from "node:fs";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { defineAgent, defineTool, openSession, startSession } from "@moora/agent";

const [, , manner = "", folder = ""] = process.argv;
const say = (text: string): void => void writeSync(1, `${text}\n`);

const work = defineTool({
  name: "work",
  description: "Works.",
  input: { type: "object" },
  replay: "keyed",
  ...(manner === "question" ? { approval: "always" as const } : {}),
  async execute() {
    say("working");
    if (manner === "hang") await new Promise(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20).unref());
    return "worked";
  },
});
const llm = new MockLlmCaller(({ messages }) =>
  manner === "answer" || messages.some(({ role }) => role === "assistant")
    ? answers("Done.")
    : callsTools([{ name: "work" }]),
);
const agent = defineAgent({ llm, tools: [work] });

if (manner === "memory-question") {
  const careful = defineAgent({ llm, tools: [work], config: { approval: { policy: "always" } } });
  say((await startSession(careful).ask("Work.")).text);
}
// A lease that would keep the process alive for an hour.
const log = sqliteLog(`${folder}/log.db`);
const access = manner === "post" ? "post" : "run";
const session = await openSession(agent, { log, id: "ada", access, leaseMs: 3_600_000 });
say(`owner ${session.info().owner}`);
const run = session.ask("Work.");
say("asked");
say((await run).text);
