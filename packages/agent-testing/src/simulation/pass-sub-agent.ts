import { nextTurn } from "./finish-work.ts";
import type { SimHost } from "./sim-host.ts";
import type { SimWorld } from "./sim-world.ts";

/** How long a passage waits for the opening of the caller, which may itself wait for this passage. */
const mostTurns = 4;

/** A passage of the log of a sub-agent: at the chosen one, its caller is canceled before the passage ends. */
export async function passSubAgent(world: SimWorld, host: SimHost): Promise<void> {
  if (world.cancelIn === undefined || !world.hosts.includes(host)) return;
  world.cancelIn -= 1;
  if (world.cancelIn > 0) return;
  world.cancelIn = undefined;
  for (let turn = 0; turn < mostTurns && host.session === undefined; turn += 1) await nextTurn();
  if (host.session === undefined) return void (world.cancelIn = 1);
  world.record("a cancel in a step of a sub-agent");
  world.hit("cancel:sub-agent");
  const canceled = host.session.cancel("enough");
  world.offer(canceled);
  await canceled.catch(() => undefined);
}
