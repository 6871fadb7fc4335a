import { nthOf, when, type Candidate, type Of } from "./action.ts";
import type { Draws } from "./draws.ts";
import type { SimHost } from "./sim-host.ts";
import type { SimWorld } from "./sim-world.ts";

/** The kinds of actions that happen at a host that has the session open. */
export type AtHostType =
  | "message"
  | "update"
  | "cancel"
  | "pause"
  | "resume"
  | "schedule"
  | "repeat-input"
  | "late-result"
  | "outside-result"
  | "listener-throws"
  | "decide";

type AtHost = Of<AtHostType>;

/** An action at one of the hosts that have the session open; none without such a host. */
export function atAnyHost(
  { hosts }: SimWorld,
  { choose }: Draws,
  weight: number,
  draw: () => AtHost,
): readonly Candidate[] {
  const { length } = hosts.filter(({ session }) => session !== undefined);
  return when(length > 0, weight, () => {
    const drawn = draw();
    const host = choose(length);
    return host === 0 ? drawn : { ...drawn, host };
  });
}

/** Such an action, if a fault may come. */
export const ofFault = (
  name: string,
  world: SimWorld,
  draws: Draws,
  ...given: [weight: number, draw: () => AtHost]
): readonly Candidate[] => (draws.faults(name) ? atAnyHost(world, draws, ...given) : []);

/** A host that has the session open. */
export type OpenHost = SimHost & { readonly session: NonNullable<SimHost["session"]> };

const isOpen = (host: SimHost): host is OpenHost => host.session !== undefined;

/** Does something at the host that an action means. `use` returns false where it cannot happen. */
export function atHost(world: SimWorld, action: AtHost, use: (host: OpenHost) => boolean | void): boolean {
  const host = nthOf(world.hosts.filter(isOpen), action.host);
  return host !== undefined && use(host) !== false;
}
