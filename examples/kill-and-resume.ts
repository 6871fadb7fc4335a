// A batch of three tools, killed with SIGKILL at eight instants: before and after the record with the intents of all calls, and
// before and after the result of each one is on record. After each kill another process takes the session up. Nothing is lost,
// nothing doubled.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/kill-and-resume.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import type { EventLog, LogRecord } from "@moora/event-log";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** What may happen to a call after a crash: read again; pay again, with the same key; never mail again. */
const policies = { lookup: "safe", pay: "keyed", mail: "once" } as const;
type ToolName = keyof typeof policies;
const tools: readonly ToolName[] = ["lookup", "pay", "mail"];

/** A moment at which the process dies: before or after it writes the record that contains all of these texts. */
interface Instant {
  readonly name: string;
  readonly when: "before" | "after";
  readonly record: readonly string[];
}

const instants: readonly Instant[] = [
  { name: "before the intents", when: "before", record: ['"tool-call-started"'] },
  { name: "after the intents", when: "after", record: ['"tool-call-started"'] },
  ...tools.flatMap((tool, index): readonly Instant[] => {
    const record = ['"tool-call-completed"', `"toolCallId":"call_${index + 1}"`];
    return [
      { name: `${tool} done, not recorded`, when: "before", record },
      { name: `${tool} recorded`, when: "after", record },
    ];
  }),
];

/** The world outside: a file to which each run of a tool adds a line with its idempotency key. */
const worldIn = (folder: string): string => join(folder, "world.txt");

function agentIn(folder: string): Agent {
  return defineAgent({
    llm: new MockLlmCaller(({ messages }) =>
      messages.some(({ role }) => role === "assistant")
        ? answers("All three are settled.")
        : callsTools(tools.map((name) => ({ name, arguments: {} }))),
    ),
    tools: tools.map((name) =>
      defineTool({
        name,
        description: `Does ${name}.`,
        input: { type: "object", properties: {} },
        replay: policies[name],
        async execute(_, { idempotencyKey }) {
          // One after the other, so that each result is a record of its own.
          for (let turn = 0; turn <= tools.indexOf(name); turn += 1) await setImmediate();
          appendFileSync(worldIn(folder), `${name} ${idempotencyKey}\n`);
          return `${name} is done`;
        },
      }),
    ),
  });
}

const logIn = (folder: string): EventLog => sqliteLog(join(folder, "sessions.db"));

/** A log whose process dies right before, or right after, it writes one record. */
function deadly(log: EventLog, { record, when }: Instant): EventLog {
  const isIt = ({ body }: LogRecord): boolean => record.every((text) => body.includes(text));
  return withSessions(log, (session) => ({
    append(expectedSeq, records) {
      const isDue = records.some(isIt);
      if (isDue && when === "before") process.kill(process.pid, "SIGKILL");
      const done = session.append(expectedSeq, records);
      if (isDue && when === "after") process.kill(process.pid, "SIGKILL");
      return done;
    },
  }));
}

/** The process that will die: it begins the task, and never gets to its end. */
async function beDoomed(folder: string, instant: Instant): Promise<void> {
  const session = await openSession(agentIn(folder), {
    log: deadly(logIn(folder), instant),
    id: "order",
  });
  await session.ask("Settle order 7.");
}

/** Starts such a process, and waits for the signal that ended it. */
async function killed(folder: string, instant: number): Promise<string> {
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, folder, String(instant)]);
  const [, signal] = await once(child, "exit");
  return String(signal);
}

interface Outcome {
  readonly row: readonly string[];
  readonly isRight: boolean;
}

/** Kills one process, takes its session up, and counts what the world has seen. */
async function outcomeOf(instant: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "moora-kill-"));
  const signal = await killed(folder, instant);
  const log = logIn(folder);
  const session = await openSession(agentIn(folder), { log, id: "order", isOwnerGone: () => true });
  await session.running();
  await session.settled();
  const { toolCalls, reActContext } = session.current();
  await session.close();
  await log.close();

  const lines = existsSync(worldIn(folder)) ? readFileSync(worldIn(folder), "utf8").trim().split("\n") : [];
  const runsOf = (name: ToolName): readonly string[] => lines.filter((line) => line.startsWith(name));
  const payments = new Set(runsOf("pay")).size;
  const mailed = Object.values(toolCalls).find(({ name }) => name === "mail")?.result;
  const mail = mailed?.isSuccess === true ? "sent" : (mailed?.code ?? "lost");
  rmSync(folder, { recursive: true });

  const isRight =
    signal === "SIGKILL" &&
    reActContext.control.type === "Done" &&
    Object.values(toolCalls).every(({ result }) => result !== null) &&
    payments === 1 &&
    (mail === "sent"
      ? runsOf("mail").length === 1
      : mail === "outcome-unknown" && runsOf("mail").length <= 1);
  const counts = [runsOf("lookup"), runsOf("pay")].map((runs) => String(runs.length));
  return {
    row: [instants[instant]?.name ?? "", ...counts, String(payments), String(runsOf("mail").length), mail],
    isRight,
  };
}

/** All of it, two at a time, as a table. */
async function main(): Promise<void> {
  const kills = [...instants.keys()];
  const outcomes: Outcome[] = [];
  while (kills.length > 0) outcomes.push(...(await Promise.all(kills.splice(0, 2).map(outcomeOf))));

  const head = ["killed", "lookups", "pay runs", "payments", "mail runs", "mail"];
  const widths = head.map((_, column) =>
    Math.max(...[head, ...outcomes.map(({ row }) => row)].map((cells) => cells[column]?.length ?? 0)),
  );
  for (const cells of [head, ...outcomes.map(({ row }) => row)]) {
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }

  const wrong = outcomes.filter(({ isRight }) => !isRight).length;
  process.exitCode = Math.min(wrong, 1);
  console.log(
    wrong === 0
      ? `\n${outcomes.length} kills: every call has its result, every payment was made once, no mail ran twice.`
      : `\n${wrong} of ${outcomes.length} kills lost or doubled something: that is a bug.`,
  );
}

const [folder, chosen] = process.argv.slice(2);
const instant = instants[Number(chosen)];
if (folder !== undefined && instant !== undefined) await beDoomed(folder, instant);
else await main();
