import { join } from "node:path";
import {
  agentTransition,
  defineAgent,
  initialStateOf,
  startSession,
  type Agent,
  type AgentInput,
  type Session,
} from "@moora/agent";
import { planner } from "@moora/planner";
import { calculatorTool, currentTimeTool, fileTools } from "@moora/tools";
import { processHost } from "./process-host.ts";
import { Screen } from "./terminal/screen.ts";
import { TextView } from "./terminal/text-view.ts";

/** The parts of the demonstration, in order: an explanation and a task for the agent. */
const scenes: readonly (readonly [explanation: string, task: string])[] = [
  ["One tool. The answer is streamed.", "What is (2^10 - 24) / 8?"],
  [
    "Three tools that do not depend on each other: one turn calls all of them, and they run in parallel.",
    'List the files in packages/moorex/src, read packages/moorex/package.json and search packages/agent/src for "createMoorex<"',
  ],
  [
    "A chain: what the first call finds, the second one reads.",
    'Search packages/moorex/src for "export function createMoorex", then read the first one.',
  ],
  [
    "A failure is data: the tool fails, the agent reads why, and the loop continues to its answer.",
    "Calculate 1 / (3 - 3).",
  ],
];

// In a demonstration, tool calls are part of the output.
const host = { ...processHost(), stderr: process.stdout };
const screen = new Screen(host);
const say = (text: string): void => screen.result(`${text}\n`);

const agent = defineAgent({
  llm: planner(),
  tools: [
    calculatorTool(),
    currentTimeTool(),
    ...fileTools({ root: join(import.meta.dirname, "../../../..") }),
  ],
});
const session = startSession(agent);
const inputs: AgentInput[] = [];
session.onInput((input) => void inputs.push(input));

say(
  "A conversation with an agent about this repository. The model is the planner, a deterministic stand-in:",
);
say(
  "no key, no network, not a language model. Lines with -> and <- are tool calls as they start and finish.",
);
for (const [explanation, task] of scenes) await play(explanation, task, session);

say(
  "\n# The trace\n\nEach row is a move along an edge of the control graph; each loop leads from Idle to Done.\n",
);
say(session.trace().toText());
say(`\n# The same again, without model and tools\n\n${replayed(agent, session, inputs)}`);
await session.close();

/** One question, and everything that happens until its answer. */
async function play(explanation: string, task: string, chat: Session): Promise<void> {
  say(`\n# ${explanation}\n\n> ${task}\n`);
  const view = new TextView(screen, {
    showsTrace: false,
    now: () => host.clock.now(),
    retryReason: () => "The model did not answer.",
  });
  const run = chat.ask(task);
  for await (const event of run) view.show(event);
  await run;
}

/** Folds the inputs of the conversation again, and compares the state. */
function replayed(of: Agent, chat: Session, log: readonly AgentInput[]): string {
  let state = initialStateOf(of);
  for (const input of log) state = agentTransition(input)(state);
  const { streaming: _, ...live } = chat.current();
  const isSame = JSON.stringify(state) === JSON.stringify(live);
  if (!isSame) process.exitCode = 1;
  return isSame
    ? `The ${log.length} inputs of this conversation, folded by the reducer, give the same state, byte for byte.`
    : "The inputs of this conversation, folded again, give a different state: this is a bug.";
}
