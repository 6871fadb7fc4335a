import type { ActionRow, ActionRows, SimAction } from "./action.ts";
import { weighted } from "./choices.ts";
import type { Draws } from "./draws.ts";
import { hostActions } from "./host-actions.ts";
import { endsOf } from "./pending-ends.ts";
import { peopleActions } from "./people-actions.ts";
import type { SimWorld } from "./sim-world.ts";
import { workActions } from "./work-actions.ts";

/** Every kind of action, in the order in which they are drawn. */
const actions: ActionRows<SimAction["type"]> = { ...workActions, ...peopleActions, ...hostActions };

const rowOf = ({ type }: SimAction): ActionRow<SimAction> => actions[type];

/** Draws the next action in a world, with the allowed faults. */
export async function drawAction(world: SimWorld, draws: Draws): Promise<SimAction> {
  const rows: readonly ActionRow<SimAction>[] = Object.values(actions);
  const candidates = [
    ...world.pending.flatMap((pending) => endsOf(pending, world, draws)),
    ...rows.flatMap((row) => row.draw?.(world, draws) ?? []),
  ];
  const { draw } = weighted(
    draws.choose,
    candidates.map((candidate) => [candidate.weight, candidate] as const),
  );
  return await draw();
}

/** Lets an action happen. Returns false, and does nothing, where it cannot happen in the world as it is. */
export async function performAction(world: SimWorld, action: SimAction): Promise<boolean> {
  const { control } = world;
  const row = rowOf(action);
  const done = await row.perform(world, action);
  const fault = row.fault?.(action);
  if (done && fault !== undefined) world.hits.push([control, fault]);
  return done;
}

/** Plainer forms of an action, the plainest first: what a failure does not need is left out of what people read. */
export function* simplerActions(action: SimAction): Generator<SimAction, void, undefined> {
  if ("host" in action && action.host !== undefined) {
    const { host: _, ...without } = action;
    yield without;
  }
  if ("nth" in action && action.nth !== undefined) {
    const { nth: _, ...without } = action;
    yield without;
  }
  yield* rowOf(action).simpler?.(action) ?? [];
}
