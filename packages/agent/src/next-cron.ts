import type { Cron } from "croner";
import type { AgentParts } from "@moora/agent-core-effects";

type Croner = { readonly Cron: typeof Cron };

/** The library of cron expressions, once a schedule has needed it. */
let croner: Croner | undefined;

/** The first time of a cron expression after another one. A promise only if the library is not loaded yet. */
export const nextCron: NonNullable<AgentParts["nextCron"]> = (cron, timeZone, after) => {
  const nextIn = ({ Cron: Expression }: Croner): number | undefined =>
    new Expression(cron, { timezone: timeZone, mode: "5-part" }).nextRun(new Date(after))?.getTime();
  if (croner !== undefined) return nextIn(croner);
  return import("croner").then((loaded) => nextIn((croner = loaded)));
};
