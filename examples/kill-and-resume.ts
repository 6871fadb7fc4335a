// A batch of three tools, killed with SIGKILL at twelve instants: before and after the intent of each call, and before and
// after its result is on record. After each kill another process takes the session up. Nothing is lost, nothing doubled.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/kill-and-resume.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import type { EventLog, LogRecord } from "@moora/event-log";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** What may happen to a call after a crash: read again; pay again, with the same key; never mail again. */
const policies = { lookup: "safe", pay: "keyed", mail: "once" } as const;
type ToolName = keyof typeof policies;
const tools: readonly ToolName[] = ["lookup", "pay", "mail"];

/** The instants of a call at which the process can die. */
const phases = [
  { name: "before the intent", record: "tool-call-started", when: "before" },
  { name: "after the intent", record: "tool-call-started", when: "after" },
  { name: "done, not recorded", record: "tool-call-completed", when: "before" },
  { name: "after the result", record: "tool-call-completed", when: "after" },
] as const;
type Phase = (typeof phases)[number];

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
        execute(_, { idempotencyKey }) {
          appendFileSync(worldIn(folder), `${name} ${idempotencyKey}\n`);
          return `${name} is done`;
        },
      }),
    ),
  });
}

const logIn = (folder: string): EventLog => sqliteLog(join(folder, "sessions.db"));

/** A log whose process dies right before, or right after, it writes one record about one call. */
function deadly(log: EventLog, { record, when }: Phase, tool: ToolName): EventLog {
  const isIt = ({ body }: LogRecord): boolean =>
    body.includes(`"${record}"`) && body.includes(`"toolCallId":"call_${tools.indexOf(tool) + 1}"`);
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
async function beDoomed(folder: string, phase: Phase, tool: ToolName): Promise<void> {
  const session = await openSession(agentIn(folder), {
    log: deadly(logIn(folder), phase, tool),
    id: "order",
  });
  await session.ask("Settle order 7.");
}

/** Starts such a process, and waits for the signal that ended it. */
async function killed(folder: string, phase: number, tool: ToolName): Promise<string> {
  const child = spawn(process.execPath, [
    ...process.execArgv,
    import.meta.filename,
    folder,
    String(phase),
    tool,
  ]);
  const [, signal] = await once(child, "exit");
  return String(signal);
}

interface Outcome {
  readonly row: readonly string[];
  readonly isRight: boolean;
}

/** Kills one process, takes its session up, and counts what the world has seen. */
async function outcomeOf(phase: number, tool: ToolName): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "moora-kill-"));
  const signal = await killed(folder, phase, tool);
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
    row: [tool, phases[phase]?.name ?? "", ...counts, String(payments), String(runsOf("mail").length), mail],
    isRight,
  };
}

/** All of it, two at a time, as a table. */
async function main(): Promise<void> {
  const kills = tools.flatMap((tool) => phases.map((_, phase) => ({ phase, tool })));
  const outcomes: Outcome[] = [];
  while (kills.length > 0) {
    outcomes.push(
      ...(await Promise.all(kills.splice(0, 2).map(({ phase, tool }) => outcomeOf(phase, tool)))),
    );
  }

  const head = ["killed in", "phase", "lookups", "pay runs", "payments", "mail runs", "mail"];
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

const [folder, phaseOf, doomed] = process.argv.slice(2);
const phase = phases[Number(phaseOf)];
const tool = tools.find((name) => name === doomed);
if (folder !== undefined && phase !== undefined && tool !== undefined) await beDoomed(folder, phase, tool);
else await main();
