/** (J08) Inputs with harm done to them: nothing throws, what is refused changes nothing, what is accepted keeps every law. */
import { setImmediate } from "node:timers/promises";
import { openSession } from "@moora/agent";
import {
  agentTransition,
  initialAgentState,
  parseInput,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import {
  drawConfig,
  drawInput,
  drawTools,
  keepLaws,
  seededChoose,
  type Choose,
  type LawKeeper,
} from "@moora/agent-testing";
import { memoryLog } from "@moora/event-log";
import { harmed } from "./parts/harmed.ts";
import { prove } from "./parts/in-chunks.ts";
import { shopAgent } from "./parts/simulated-agents.ts";

const offersEach = 100;
/** One conversation in so many is held by a session with a log; the others by the reducer alone, under every law. */
const inSession = 50;
const globals = [Object.prototype, Array.prototype, Map.prototype].map(
  (prototype) => [prototype, Reflect.ownKeys(prototype).length] as const,
);

await prove({
  name: "fuzzed inputs",
  file: import.meta.filename,
  goal: 10_000_000,
  chunk: 20_000,
  async run(first, size, seed) {
    const counts = { accepted: 0, refused: 0, "offered to a session with a log": 0 };
    const failures: string[] = [];
    for (let from = first; from < first + size; from += offersEach) {
      const number = seed * 100_000_000 + from;
      const choose = seededChoose(number);
      const offers = Math.min(offersEach, first + size - from);
      try {
        if ((from / offersEach) % inSession === 0) {
          counts["offered to a session with a log"] += offers;
          counts.accepted += await offerToSession(choose, offers);
        } else counts.accepted += offerToReducer(choose, offers);
        for (const [prototype, keys] of globals)
          if (Reflect.ownKeys(prototype).length !== keys) throw new Error("a prototype was changed");
      } catch (error) {
        failures.push(`conversation ${number}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    counts.refused = size - counts.accepted;
    return { cases: size, failures, counts };
  },
});

/** Returns the number of inputs that changed something. */
function offerToReducer(choose: Choose, offers: number): number {
  const from = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
  const keeper: LawKeeper = keepLaws({ from, replays: false, thoroughly: (count) => count % 40 === 0 });
  let accepted = 0;
  for (let count = 0; count < offers; count += 1) {
    const value = harmed(drawInput(keeper.state, keeper.inputs, choose), choose);
    const parsed = parseInput(value);
    if (!parsed.ok) checkProblem(parsed.problem);
    else if (repeatsDigest(parsed.input, keeper.inputs)) continue;
    else if (agentTransition(parsed.input)(keeper.state) !== keeper.state) {
      keeper.apply(parsed.input);
      accepted += 1;
    }
  }
  return accepted;
}

/**
 * Whether a question of a tool has the digest of an earlier one of its call. Only a runner sends questions, and one that keeps the
 * contract of the input never does: the reducer does not know the earlier digests.
 */
const repeatsDigest = (input: AgentInput, past: readonly AgentInput[]): boolean =>
  input.type === "tool-call-asked" &&
  past.some(
    (earlier) =>
      earlier.type === input.type &&
      earlier.toolCallId === input.toolCallId &&
      earlier.digest === input.digest,
  );

function checkProblem({ code, message }: { readonly code: string; readonly message: string }): void {
  if (code === "" || message === "" || message.length > 2_000)
    throw new Error(`a refusal without a good reason: ${code}`);
}

/** The same through a session: its log grows by what was accepted, and by nothing else. */
async function offerToSession(choose: Choose, offers: number): Promise<number> {
  const log = memoryLog();
  const hangs = { name: "hangs", call: () => new Promise<never>(() => undefined) };
  const agent = { ...shopAgent, parts: { ...shopAgent.parts, llm: hangs } };
  const session = await openSession(agent, { log, id: "fuzzed" });
  const past: AgentInput[] = [];
  let accepted = 0;
  for (let count = 0; count < offers; count += 1) {
    const input = drawInput(session.current(), past, choose);
    const value = harmed(input, choose);
    // What the session does by itself is done before.
    await setImmediate();
    const before: AgentState = session.current();
    const head = await headOf(log);
    const outcome = await session.dispatch(value).then(
      (receipt) => receipt.status,
      (error: unknown) => {
        if (error instanceof Error && "code" in error) return "refused";
        throw error;
      },
    );
    if (outcome === "accepted") accepted += 1;
    else if (session.current().transcript !== before.transcript || (await headOf(log)) !== head)
      throw new Error(`what was ${outcome} changed something: ${input.type}`);
    past.push(input);
  }
  await session.close();
  return accepted;
}

const headOf = async (log: ReturnType<typeof memoryLog>): Promise<number> =>
  (await (await log.open("fuzzed"))?.head()) ?? 0;
