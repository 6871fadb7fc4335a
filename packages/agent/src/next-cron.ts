import type { Cron } from "croner";
import type { AgentParts } from "@moora/agent-core-effects";
import { errorText } from "@moora/agent-core-effects/internal";

type Croner = { readonly Cron: typeof Cron };

/** The library of cron expressions, once a schedule has needed it. */
let croner: Croner | undefined;

/**
 * The first time of a cron expression after another one. A promise only if the library is not loaded yet. Throws `RangeError` for an
 * invalid expression, also one with a name or a date in place of the five fields, and an unknown zone.
 */
export const nextCron: NonNullable<AgentParts["nextCron"]> = (cron, timeZone, after) => {
  const nextIn = ({ Cron: Expression }: Croner): number | undefined => {
    if (cron.trim().split(/\s+/).length !== 5) throw new RangeError("it does not have five fields");
    try {
      return new Expression(cron, { timezone: timeZone, mode: "5-part" }).nextRun(new Date(after))?.getTime();
    } catch (error) {
      throw new RangeError(errorText(error), { cause: error });
    }
  };
  if (croner !== undefined) return nextIn(croner);
  return import("croner").then((loaded) => nextIn((croner = loaded)));
};
