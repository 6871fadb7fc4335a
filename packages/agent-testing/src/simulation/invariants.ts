import { effectsAt } from "@moora/agent-core-effects";
import {
  initialAgentState,
  loopRuns,
  needsHuman,
  openCallsOf,
  recordOf,
  replay,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { readSession } from "@moora/agent";
import { isWanted, type ToolRun } from "./pending.ts";
import { InvariantBroken, type SimWorld } from "./sim-world.ts";
import { firstDifference } from "../laws/law-broken.ts";

function check(holds: boolean, invariant: string, message: () => string): asserts holds {
  if (!holds) throw new InvariantBroken(invariant, message());
}

/** A promise of the user's own agent, looked at after every step: true, or what is wrong. */
export type Invariant = (world: {
  readonly state: AgentState;
  /** Every time that a tool really ran, in order, over all crashes. */
  readonly toolRuns: readonly ToolRun[];
}) => boolean | string;

const prototypeKeys = Reflect.ownKeys(Object.prototype).length;

/**
 * What has to hold after every step. L1 to L11 were checked as each input was published, and with them V5 and V12, which
 * are L7, and V10, which is L11.
 */
export function checkStep(world: SimWorld, own: Readonly<Record<string, Invariant>>): void {
  if (world.failure !== undefined) throw world.failure;
  checkRuns(world);
  checkUnderWay(world);
  check(
    Reflect.ownKeys(Object.prototype).length === prototypeKeys,
    "V11",
    () => "Object.prototype was changed",
  );
  const { state, toolRuns } = world;
  for (const [name, invariant] of Object.entries(own)) {
    const found = invariant({ state, toolRuns });
    check(found === true, name, () => (typeof found === "string" ? found : "it does not hold"));
  }
}

/** V3: what the owner wants done is under way exactly once, as far as no append stands in between. */
function checkUnderWay(world: SimWorld): void {
  const { owner } = world;
  if (owner?.session === undefined || owner.log.failsNext || owner.session.info().lastError !== undefined)
    return;
  if (world.pending.some((pending) => pending.type === "append")) return;
  const underWay = world.pending.filter(
    (pending) => pending.host === owner.name && pending.type !== "probe" && isWanted(pending),
  ).length;
  const wanted = world.wantedBy(owner);
  check(underWay === wanted, "V3", () => `${wanted} effects are wanted, ${underWay} are under way`);
}

/** V4 and V9: how often a tool may run, and that it ran what was approved. */
function checkRuns({ toolRuns, keeper, agent }: SimWorld): void {
  const run = toolRuns.at(-1);
  if (run === undefined) return;
  const record = recordOf(keeper.state, run.toolCallId);
  check(
    record !== undefined && record.parameters === run.parameters,
    "V9",
    () => `call ${run.toolCallId} ran something else than what is recorded`,
  );
  const approved = record.decision?.type === "approved" || record.decision?.type === "modified";
  check(
    !needsHuman(keeper.state, record) || approved || record.needsApproval === false,
    "V9",
    () => `call ${run.toolCallId} ran without its approval`,
  );
  const runs = toolRuns.filter((other) => other.toolCallId === run.toolCallId);
  check(
    runs.every((other) => other.key === run.key),
    "V4",
    () => `call ${run.toolCallId} ran with two keys`,
  );
  check(
    new Set(runs.map((other) => other.attempt)).size === runs.length,
    "V4",
    () => `an attempt of call ${run.toolCallId} ran twice`,
  );
  const replayPolicy = agent.tools[run.name]?.replay ?? "once";
  if (replayPolicy !== "once" || runs.length === 1) return;
  const again = keeper.inputs.filter(
    (input) =>
      "toolCallId" in input &&
      input.toolCallId === run.toolCallId &&
      (input.type === "tool-call-interrupted" ||
        (input.type === "tool-call-decided" && input.decision.type === "approved")),
  ).length;
  check(
    runs.length <= 1 + again,
    "V4",
    () => `call ${run.toolCallId}, which may run once, ran ${runs.length} times`,
  );
}

/** What has to hold at the end, when faults have stopped and everything came to rest. */
export async function checkEnd(world: SimWorld): Promise<void> {
  const { header, inputs: log } = await readSession(world.store, "simulated");
  const state = replay(log, initialAgentState(header));
  const { keeper, acknowledged } = world;
  check(
    log.length === keeper.inputs.length,
    "V1",
    () => `the log has ${log.length} records, ${keeper.inputs.length} were published`,
  );
  for (const { seq, text } of acknowledged)
    check(
      seq <= log.length && (text === "" || text === JSON.stringify(log[seq - 1])),
      "V6",
      () => `the acknowledged input ${seq} is not in the log`,
    );
  const folded = firstDifference(state, keeper.state);
  check(folded === undefined, "V2", () => `the folded log is another state: ${folded}`);
  for (const host of world.hosts) {
    const live = host.session?.current();
    // Who has lost the session sees it as it was when it was lost.
    if (live === undefined || host.session?.info().access === "read") continue;
    const { streaming: _, ...rest } = live;
    const difference = firstDifference(rest, keeper.state);
    check(difference === undefined, "V2", () => `${host.name} sees another state: ${difference}`);
  }
  const waits = openCallsOf(state.reActContext.control).some((call) => call.status.type === "asking");
  check(!loopRuns(state) || waits, "V14", () => "the session neither rests nor waits for a person");
  check(
    Object.keys(effectsAt(state)).every((key) => key.startsWith("ask/") || key.startsWith("wait/ask/")),
    "V14",
    () => "work is open and nobody does it",
  );
}
