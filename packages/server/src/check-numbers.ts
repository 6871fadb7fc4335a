import { optionHint, refuse } from "@moora/agent-core-effects/internal";

/** Returns numbers by name. Throws `BuildError` for a name that has no default, and for a value that is not a positive integer. */
export function checkNumbers<Numbers extends object>(
  path: "limits" | "worker",
  given: Numbers,
  defaults: object,
): Numbers {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      const kind = path === "limits" ? "limit" : "option of worker";
      refuse(`Unknown ${kind} "${name}".${optionHint(name, Object.keys(defaults))}`);
    }
    if (!Number.isSafeInteger(value) || value <= 0)
      refuse(`${path}.${name} must be a positive integer, got ${String(value)}.`);
  }
  return given;
}
