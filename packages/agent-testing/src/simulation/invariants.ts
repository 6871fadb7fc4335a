import { headerToState, readSession } from "@moora/agent";
import { effectsAt } from "@moora/agent-core-effects";
import { isLoopRunning, replay, type AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import { firstDifference } from "../laws/law-broken.ts";
import { isOfHandler } from "./call-ledger.ts";
import { check } from "./invariant-broken.ts";
import { isWanted, type Pending, type ToolRun } from "./pending.ts";
import type { SimHost } from "./sim-host.ts";
import { sessionId, type SimWorld } from "./sim-world.ts";

/** An invariant of the user's agent, checked after every action. Returns true, or what is wrong. */
export type Invariant = (world: {
  readonly state: AgentState;
  /** Every run of a tool, in order, across crashes. */
  readonly toolRuns: readonly ToolRun[];
}) => boolean | string;

/** Invariants by name. */
export type Invariants = Readonly<Record<string, Invariant>>;

/** Checks the invariants of the user. Throws `InvariantBroken` with the name of the first that does not hold. */
export function checkInvariants(invariants: Invariants, world: Parameters<Invariant>[0]): void {
  for (const [name, invariant] of Object.entries(invariants)) {
    const found = invariant(world);
    check(found === true, name, () =>
      typeof found === "string" ? found : "the invariant did not return true",
    );
  }
}

const prototypeKeys = Reflect.ownKeys(Object.prototype).length;

/**
 * What has to hold after every action. L1 to L11 were checked as each input was published, and with them V5 and V12,
 * which are L7, and V10, which is L11; V1, V2, V7, V8, V15, V17 to V19, V21 and V22 by `LogWatch`, V4, V9 and
 * V16 as a tool began, and V20, V23 and V24 as anything began.
 */
export function checkStep(world: SimWorld, invariants: Invariants): void {
  if (world.failure !== undefined) throw world.failure;
  checkUnderWay(world);
  check(
    Reflect.ownKeys(Object.prototype).length === prototypeKeys,
    "V11",
    () => "Object.prototype was changed",
  );
  checkInvariants(invariants, { state: world.state, toolRuns: world.watch.calls.runs });
}

/** V3: what the owner wants done is under way exactly once, unless an append is under way. */
function checkUnderWay(world: SimWorld): void {
  const { owner } = world;
  if (owner?.session === undefined || owner.log.failsNext || owner.session.info().lastError !== undefined)
    return;
  if (world.pending.some((pending) => pending.type === "append")) return;
  const underWay = world.pending.filter(
    (pending) => pending.host === owner.name && isOfEffect(pending) && isWanted(pending),
  ).length;
  const wanted = world.wantedBy(owner);
  check(underWay === wanted, "V3", () => `${wanted} effects are wanted, ${underWay} are under way`);
}

/** Whether a pending item is the work of a model call or of a tool call of its own. */
const isOfEffect = (pending: Pending): boolean =>
  pending.type === "sub-agent" ||
  ((pending.type === "llm" || (pending.type === "tool" && !isOfHandler(pending.toolCallId))) &&
    pending.within === undefined);

/** Checks what must hold at the end, when faults have stopped and everything is settled: V1, V2, V6, V14. */
export async function checkEnd(world: SimWorld): Promise<void> {
  const { header, inputs: log } = await readSession(world.store, sessionId);
  const state = replay(log, headerToState(header));
  const { acknowledged } = world;
  const { keeper } = world.watch;
  check(
    log.length === keeper.inputs.length,
    "V1",
    () => `the log has ${log.length} records, ${keeper.inputs.length} were published`,
  );
  for (const { seq, text } of acknowledged) {
    check(
      seq <= log.length && (text === "" || text === JSON.stringify(log[seq - 1])),
      "V6",
      () => `the acknowledged input ${seq} is not in the log`,
    );
  }
  const folded = firstDifference(state, keeper.state);
  check(folded === undefined, "V2", () => `the state folded from the log differs: ${folded}`);
  checkHosts(world);
  checkRest(state, world);
}

function checkHosts({ hosts, watch }: SimWorld): void {
  for (const { name, session } of hosts) {
    // A host that lost the session sees it as it was when it was lost.
    if (session === undefined || session.info().access === "read") continue;
    const { streaming: _, ...live } = session.current();
    const difference = firstDifference(live, watch.keeper.state);
    check(difference === undefined, "V2", () => `${name} has a different state: ${difference}`);
  }
}

/** V14: what was begun has ended, or waits for a person who was asked. */
function checkRest(state: AgentState, { owner }: SimWorld): void {
  const asksBelow = hasQuestionBelow(owner);
  const waits =
    asksBelow || openCallsOf(state.reActContext.control).some((call) => call.status.type === "asking");
  check(
    !isLoopRunning(state) || waits,
    "V14",
    () => "the session is neither settled nor waiting for a reviewer",
  );
  check(
    asksBelow ||
      Object.values(effectsAt(state)).every(({ type }) => type === "ask-human" || type === "wait-until"),
    "V14",
    () => "effects are wanted, and no host runs them",
  );
  check(
    !waits || owner?.approvesAll !== true || !isAnsweredByAll(state),
    "V14",
    () => "a question is open although the host answers every question",
  );
}

/** Whether a sub-agent asks a person. */
export const hasQuestionBelow = (host: SimHost | undefined): boolean =>
  host?.session?.questions().some(({ path }) => path !== undefined) === true;

/** Whether some open question is one that an approval answers. */
const isAnsweredByAll = (state: AgentState): boolean =>
  openCallsOf(state.reActContext.control).some(
    ({ status }) => status.type === "asking" && status.about === "approval",
  );
