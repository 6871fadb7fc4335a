import { changeConfig } from "@moora/agent-core-state-machine/internal";
import type { Agent } from "@moora/agent";
import type { SimAction, SimulatedSession } from "./action.ts";
import { settleSession, takesMessage } from "./settle-session.ts";
import { checkEnd, checkStep, type Invariants } from "./invariants.ts";
import { check, InvariantBroken } from "./invariant-broken.ts";
import { performAction } from "./actions.ts";
import { edgeToText } from "./coverage.ts";
import { nextTurn } from "./finish-work.ts";
import { SimWorld, type StoryLine, type WorldOptions } from "./sim-world.ts";
import { onUncaught } from "./uncaught.ts";

/** The set-up of a simulated session: everything except its actions. */
export interface SessionOptions extends Omit<WorldOptions, "asyncAppends"> {
  readonly invariants: Invariants;
  /** Called before each session. */
  readonly beforeEach: () => void | Promise<void>;
}

/** The result of one simulated session. */
export interface SessionResult {
  /** The session as it happened: only what could happen, so that it can be simulated again. */
  readonly session: SimulatedSession;
  readonly story: readonly StoryLine[];
  /** (control state, fault) pairs that were hit. */
  readonly hits: readonly (readonly [control: string, fault: string])[];
  /** The edges of the control graph that were walked, in their order, as `Planning --LlmToolCall--> Acting`. */
  readonly edges: readonly string[];
  /** The number of accepted inputs. */
  readonly inputs: number;
  /** The number of actions that were skipped because they could not happen. */
  readonly skipped: number;
  /** What was thrown: `LawBroken`, `InvariantBroken`; undefined where everything held. */
  readonly failure: unknown;
}

/** Gives the next action for a world; undefined at the end. */
export type NextAction = (world: SimWorld) => Promise<SimAction | undefined>;

/** Simulates one session, from its first message to its rest. */
export async function simulateSession(
  options: SessionOptions,
  setup: Omit<SimulatedSession, "actions">,
  next: NextAction,
): Promise<SessionResult> {
  await options.beforeEach();
  const world = new SimWorld({
    ...options,
    agent: withConfig(options.agent, setup),
    asyncAppends: setup.asyncAppends === true,
  });
  const actions: SimAction[] = [];
  let skipped = 0;
  let failure: unknown;
  const stopListening = onUncaught((what) => (world.failure ??= new InvariantBroken("V13", what)));
  try {
    const refused = await world.open("run", false, setup.approvesAll);
    if (refused !== undefined) throw refused;
    if (setup.approvesAll === true) world.hit("blanket-approval");
    for (let action = await next(world); action !== undefined; action = await next(world)) {
      const isDone = await performAction(world, action);
      if (isDone) actions.push(action);
      else skipped += 1;
      await nextTurn();
      world.noteQuestions();
      checkStep(world, options.invariants);
    }
    await finish(world, options.invariants);
  } catch (error) {
    failure = error;
  } finally {
    stopListening();
  }
  for (const host of world.hosts.toReversed()) world.crash(host);
  const { story, hits, watch } = world;
  const edges = watch.keeper.moves.map(edgeToText);
  return { session: { ...setup, actions }, story, hits, edges, inputs: watch.length, skipped, failure };
}

/** Runs the part of a session after the faults have stopped. */
async function finish(world: SimWorld, invariants: Invariants): Promise<void> {
  await settleSession(world);
  checkStep(world, invariants);
  await checkEnd(world);
  await takesMessage(world);
  for (const host of world.hosts.toReversed()) {
    await world.close(host);
    check(host.timers === 0, "V13", () => `${host.name} is closed and leaves ${host.timers} timers behind`);
  }
  if (world.failure !== undefined) throw world.failure;
}

const withConfig = (agent: Agent<unknown>, { config }: Pick<SimulatedSession, "config">): Agent<unknown> =>
  config === undefined ? agent : { ...agent, config: changeConfig(agent.config, config) };
