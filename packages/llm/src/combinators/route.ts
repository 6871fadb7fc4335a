import type { LlmCaller } from "../caller.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import type { LlmOutcome } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { withAnswerer } from "./answered-by.ts";
import { checkCaller, checkFunction } from "./check-caller.ts";

/**
 * A caller that chooses one of several callers for each request, by name. `choose` must depend on the request alone, so that
 * every attempt of a request goes to the same caller. If it throws, or returns an unknown name, the call fails as
 * `invalid-request`. Throws `LlmOptionError` without a caller, and for a `choose` that is not a function.
 */
export function route<Name extends string>(
  callers: Readonly<Record<Name, LlmCaller>>,
  choose: (request: LlmRequest) => Name,
): LlmCaller {
  if (typeof callers !== "object" || callers === null || Array.isArray(callers))
    throw new LlmOptionError("route needs an object of callers by name as its first argument.");
  checkFunction("route", "its second argument", choose);
  for (const caller of Object.values(callers)) checkCaller("route", caller);
  const byName: ReadonlyMap<string, LlmCaller> = new Map(Object.entries<LlmCaller>(callers));
  if (byName.size === 0) throw new LlmOptionError("route needs at least one caller, got an empty object.");

  const chosen = (request: LlmRequest): Chosen => {
    try {
      const name: string = choose(request);
      const caller = byName.get(name);
      if (caller !== undefined) return { caller, reason: `route: ${name}` };
      return {
        problem: `route: unknown caller ${JSON.stringify(name)}. Known: ${[...byName.keys()].join(", ")}.`,
      };
    } catch (error) {
      return { problem: `route: choose threw: ${String(error)}` };
    }
  };
  const failed = (problem: string): LlmOutcome => failedOutcome(failureOf("invalid-request", problem));

  const all = [...byName.values()];
  const callSync = (request: LlmRequest): LlmOutcome => {
    const found = chosen(request);
    if (!("caller" in found)) return failed(found.problem);
    const { caller, reason } = found;
    const outcome = caller.callSync?.(request) ?? failed(`route: ${caller.name} has no callSync.`);
    return withAnswerer(outcome, caller, reason);
  };
  return {
    name: `route(${[...byName.keys()].join(", ")})`,
    call: async (request, options) => {
      const found = chosen(request);
      if (!("caller" in found)) return failed(found.problem);
      return withAnswerer(await found.caller.call(request, options), found.caller, found.reason);
    },
    ...(all.every((caller) => caller.callSync !== undefined) && { callSync }),
  };
}

type Chosen = { readonly caller: LlmCaller; readonly reason: string } | { readonly problem: string };
