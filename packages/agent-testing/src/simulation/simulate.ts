import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, Recipe } from "@moora/agent";
import { checkOptions, refuse } from "@moora/agent-core-effects/internal";
import type { Choose } from "../choose.ts";
import { drawConfig } from "../draw-config.ts";
import { defaultDialects } from "../laws/default-dialects.ts";
import { seededChoose } from "../seeded-choose.ts";
import type { SimulatedSession } from "./action.ts";
import { neverCame, unwalkedEdges } from "./coverage.ts";
import { drawAction } from "./actions.ts";
import { drawsFor } from "./draws.ts";
import { faultFilter, faultNames } from "./faults.ts";
import { identityOf } from "./identity.ts";
import { regressionTest, needsOf } from "./regression-test.ts";
import { hasSubAgents } from "./sim-host.ts";
import { reportToText, type SimulationFailure, type SimulationReport } from "./report.ts";
import { actionsOf, shrinkSession } from "./shrink.ts";
import {
  defaultThoroughEvery,
  reproduceLine,
  simulateForms,
  type SimulateOptions,
} from "./simulate-options.ts";
import {
  simulateSession,
  type NextAction,
  type SessionOptions,
  type SessionResult,
} from "./simulate-session.ts";

/**
 * Simulates sessions of an agent, deterministically: a clock that is moved by hand, a model that is drawn, tools that
 * fail, lie or never return, people who decide late, twice or never, crashes, failing writes, second hosts, and next
 * releases of the agent itself, unless it is a team. After every action the laws L1 to L11, the invariants V1 to V24 and your own are
 * checked. The first failure is shrunk. Rejects with `BuildError` for an unknown or invalid option.
 */
export async function simulate(
  agent: Agent<unknown>,
  options: SimulateOptions = {},
): Promise<SimulationReport> {
  checkOptions("simulate", options, simulateForms);
  const { seed = 1, runs = 100, writeTo, source } = options;
  if (writeTo !== undefined && source === undefined)
    refuse("writeTo needs source: the module that exports the agent and its options.");
  const wanted = faultFilter(options.faults);
  // Releases change the agent that is given; those of a team stay as they are.
  const faults = (name: string): boolean =>
    wanted(name) &&
    !(isTeam(agent) && name.startsWith("release")) &&
    (name !== "cancel:sub-agent" || hasSubAgents(agent));
  const session = await sessionOptions(agent, options);
  const coverage: Record<string, Record<string, number>> = {};
  const edges: Record<string, number> = {};
  let inputs = 0;
  let done = 0;
  let failure: SimulationFailure | undefined;
  while (done < runs && failure === undefined) {
    const result = await simulateSeed(seed + done, faults, session, options);
    addHits(coverage, result);
    for (const edge of result.edges) edges[edge] = (edges[edge] ?? 0) + 1;
    inputs += result.inputs;
    done += 1;
    if (result.failure !== undefined) failure = await failureOf(seed + done - 1, result, session, options);
  }
  if (writeTo !== undefined && failure?.test !== undefined) await writeTest(writeTo, failure);
  const allowed = faultNames.filter(faults);
  const { dialects } = session;
  const found = { seed, runs: done, inputs, coverage, edges, failure };
  return reportOf(found, allowed, Object.keys(dialects), agent);
}

const isTeam = ({ team }: Agent<unknown>): boolean => team !== undefined;

/** Options of `simulateActions`: those of `simulate` that do not draw. */
export type SimulateActionsOptions = Pick<
  SimulateOptions,
  "invariants" | "dialects" | "execute" | "updates" | "context" | "beforeEach" | "thoroughEvery"
> & {
  /**
   * Code that has to be among the options, as `invariants.paysOnce`: a kept test states what found its failure. Throws
   * `TypeError` where something is missing.
   */
  readonly needs?: readonly string[];
};

// A kept test passes what its module exports, which may be the options of the simulation that found it.
const simulateActionsForms = { ...simulateForms, needs: "texts" } as const;

/** Simulates one session from its actions: how a found failure is kept as a test. Actions that cannot happen are skipped. */
export async function simulateActions(
  agent: Agent<unknown>,
  session: SimulatedSession,
  options: SimulateActionsOptions = {},
): Promise<SessionResult> {
  checkOptions("simulateActions", options, simulateActionsForms);
  const missing = (options.needs ?? []).filter((name) => !needsOf(options).includes(name));
  if (missing.length > 0)
    throw new TypeError(`The options lack ${missing.join(", ")}, which found this failure. Pass them.`);
  return await replaySession(await sessionOptions(agent, options), session);
}

const replaySession = (options: SessionOptions, session: SimulatedSession): Promise<SessionResult> => {
  const { actions: _, ...setup } = session;
  return simulateSession(options, setup, actionsOf(session));
};

async function sessionOptions(
  agent: Agent<unknown>,
  {
    invariants = {},
    dialects,
    execute = false,
    updates = [],
    context,
    beforeEach,
    thoroughEvery = defaultThoroughEvery,
  }: SimulateActionsOptions,
): Promise<SessionOptions> {
  return {
    agent,
    invariants,
    dialects: dialects ?? (await defaultDialects()),
    thoroughly: (count) => count % thoroughEvery === 0,
    executes: (name) => (typeof execute === "boolean" ? execute : execute.includes(name)),
    // Recipes of the agent's data, whose type the simulation does not know.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    updates: updates as readonly Recipe<unknown>[],
    context,
    beforeEach: beforeEach ?? (() => undefined),
  };
}

/** Draws and simulates the session of one seed. */
async function simulateSeed(
  seed: number,
  faults: (name: string) => boolean,
  session: SessionOptions,
  options: SimulateOptions,
): Promise<SessionResult> {
  const { agent } = session;
  const choose = seededChoose(seed);
  const draws = drawsFor(agent, choose, faults, options);
  let left = options.length ?? 40;
  const next: NextAction = async (world) => {
    left -= 1;
    return left < 0 ? undefined : await drawAction(world, draws);
  };
  const setup = {
    ...(choose(3) === 0 ? { asyncAppends: true } : {}),
    ...(choose(6) === 0 && faults("blanket-approval") ? { approvesAll: true } : {}),
    ...(options.drawsConfig === true ? { config: drawConfigOf(agent, choose) } : {}),
  };
  return await simulateSession(session, setup, next);
}

/** Drawn limits; the approval policy and the graph stay those of the agent. */
function drawConfigOf(agent: Agent<unknown>, choose: Choose): NonNullable<SimulatedSession["config"]> {
  const { graph: _, approval: __, ...drawn } = drawConfig(choose);
  return drawn;
}

async function failureOf(
  seed: number,
  failing: SessionResult,
  session: SessionOptions,
  options: SimulateOptions,
): Promise<SimulationFailure> {
  const shortest = await shrinkSession(failing, (candidate) => replaySession(session, candidate));
  const reproduce = reproduceLine(seed, options);
  const { source, writeTo: folder = "." } = options;
  const identity = identityOf(session.agent);
  const test =
    source === undefined
      ? undefined
      : regressionTest({ shrunk: shortest, reproduce, identity, options, source, folder });
  return { seed, failure: failing.failure, reproduce, shrunk: shortest, test };
}

async function writeTest(folder: string, { seed, test = "" }: SimulationFailure): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `simulated-${seed}.test.ts`), test);
}

function addHits(coverage: Record<string, Record<string, number>>, { hits }: SessionResult): void {
  for (const [control, fault] of hits) {
    const row = (coverage[control] ??= {});
    row[fault] = (row[fault] ?? 0) + 1;
  }
}

function reportOf(
  found: Pick<SimulationReport, "seed" | "runs" | "inputs" | "failure" | "coverage" | "edges">,
  allowed: readonly string[],
  dialects: readonly string[],
  agent: Agent<unknown>,
): SimulationReport {
  const report = {
    ...found,
    ok: found.failure === undefined,
    unwalked: unwalkedEdges(found.edges, agent.config.graph),
    neverCame: neverCame(found.coverage, allowed),
    dialects,
    identity: identityOf(agent),
  };
  return { ...report, toText: () => reportToText(report) };
}
