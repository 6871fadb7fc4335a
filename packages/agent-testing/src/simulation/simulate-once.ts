import type { Agent } from "@moora/agent";
import { drawConfig } from "../draw-input.ts";
import type { Dialects } from "../laws/request-laws.ts";
import { actionsIn } from "./actions.ts";
import { weighted, type Choices } from "./choices.ts";
import { checkEnd, checkStep, type Invariant } from "./invariants.ts";
import { InvariantBroken, quiet, SimWorld, type SimHost, type StoryLine } from "./sim-world.ts";

export interface OnceOptions {
  readonly agent: Agent<unknown>;
  readonly choices: Choices;
  /** How many things happen before the faults stop. */
  readonly length: number;
  readonly faults: (name: string) => boolean;
  readonly invariants: Readonly<Record<string, Invariant>>;
  readonly dialects: Dialects;
  readonly thoroughly: (count: number) => boolean;
  /** Whether fields of the configuration are drawn too, over those of the agent. */
  readonly drawsConfig: boolean;
}

/** How one simulated session went. */
export interface Once {
  readonly story: readonly StoryLine[];
  /** (control state, fault) pairs that were hit. */
  readonly hits: readonly (readonly [control: string, fault: string])[];
  readonly inputs: number;
  readonly failure: unknown;
}

/** After the faults stop, a session comes to rest within so many steps. */
const stepsToRest = 400;

/** Simulates one session, from its first message to its rest. Everything that happens follows from the choices. */
export async function simulateOnce(options: OnceOptions): Promise<Once> {
  const { choices, length, faults, invariants } = options;
  const { choose } = choices;
  const agent = options.drawsConfig ? withDrawnConfig(options.agent, choices) : options.agent;
  const world = new SimWorld({ agent, choose, dialects: options.dialects, thoroughly: options.thoroughly });
  const hits: (readonly [string, string])[] = [];
  let failure: unknown;
  const stopListening = onUnhandled((reason) => (world.failure ??= reason));
  try {
    const refused = await world.open("run", false);
    if (refused !== undefined) throw refused;
    for (let count = 0; count < length; count += 1) {
      choices.next();
      const actions = actionsIn(world, faults);
      const action = weighted(
        choose,
        actions.map((candidate) => [candidate.weight, candidate] as const),
      );
      const { control } = world;
      if (action.fault !== "none") hits.push([control, action.fault]);
      const told = world.story.length;
      await action.run();
      await quiet();
      for (const { what, control: at } of world.story.slice(told))
        if (what.startsWith("llm:") || what.startsWith("tool:")) hits.push([at, what.split(" ")[0] ?? what]);
      checkStep(world, invariants);
    }
    await comeToRest(world);
    checkStep(world, invariants);
    await checkEnd(world);
    for (const host of world.hosts.toReversed()) {
      await world.close(host);
      checkLeft(host);
    }
    if (world.failure !== undefined) throw world.failure;
  } catch (error) {
    failure = error;
  } finally {
    stopListening();
  }
  for (const host of world.hosts.toReversed()) world.crash(host);
  return { story: world.story, hits, inputs: world.keeper.inputs.length, failure };
}

/** V13: a rejection that nobody handles is a failure of the session that it happens in. */
function onUnhandled(listener: (error: InvariantBroken) => void): () => void {
  const heard = (reason: unknown): void =>
    listener(new InvariantBroken("V13", `a rejection that nobody handles: ${String(reason)}`));
  process.on("unhandledRejection", heard);
  return () => void process.off("unhandledRejection", heard);
}

/** V13: a session that was closed leaves no timer behind. */
function checkLeft({ name, timers }: SimHost): void {
  if (timers > 0) throw new InvariantBroken("V13", `${name} is closed and leaves ${timers} timers behind`);
}

/** V14: without faults, everything that was begun ends, or waits for a person. */
async function comeToRest(world: SimWorld): Promise<void> {
  world.tell("the faults stop");
  for (const host of world.hosts.toReversed()) {
    host.log.heal();
    // Whose log has failed may hold back what it could not write: a new process starts from what is there.
    if (host.session?.info().lastError !== undefined) world.crash(host);
  }
  for (let step = 0; step < stepsToRest; step += 1) {
    await quiet();
    const { owner } = world;
    if (owner === undefined) {
      await world.open("run", true);
      continue;
    }
    const [pending] = world.pending;
    if (pending === undefined) {
      if (!isWaiting(world)) break;
      // Far enough for every wait, also after the clock was set back.
      world.time.advance(4_000_000);
      continue;
    }
    world.take(pending);
    if (pending.type === "append") pending.finish();
    if (pending.type === "llm")
      pending.answer({
        ok: true,
        turn: {
          origin: "simulated/model",
          parts: [{ type: "text", text: answerFor(pending.request.answerSchema) }],
        },
        model: "simulated",
        usage: {
          inputTokens: 1,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          outputTokens: 1,
          reasoningTokens: 0,
        },
        finish: { unified: "stop", raw: "stop" },
      });
    if (pending.type === "tool") pending.answer({ isSuccess: true, content: "ok" });
    if (pending.type === "probe") pending.answer("unknown");
  }
  for (const host of world.hosts) await host.session?.refresh();
  await quiet();
  if (world.failure !== undefined) throw world.failure;
}

const answerFor = (schema: unknown): string =>
  schema === undefined ? "That is all there is to say about it." : "null";

/** Whether something is waited for that only time brings. */
function isWaiting(world: SimWorld): boolean {
  const { control } = world.state.reActContext;
  if (control.type === "Planning") return true;
  return (
    control.type === "Custom" ||
    control.type === "Reflecting" ||
    control.type === "Acting" ||
    control.type === "ParallelActing"
  );
}

function withDrawnConfig(agent: Agent<unknown>, { choose }: Choices): Agent<unknown> {
  const { graph: _, ...drawn } = drawConfig(choose);
  return { ...agent, config: { ...agent.config, ...drawn, approval: agent.config.approval } };
}
