import { optionsProblem, type OptionForms } from "@moora/agent-core-effects/internal";
import { SessionError } from "./durable/session-error.ts";

export { checkOptions, isObject, type OptionForms } from "@moora/agent-core-effects/internal";

/**
 * Does the same check as `checkOptions` for functions that read logs, and throws `SessionError` with the code
 * `InvalidOption`.
 */
export function checkLogOptions<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
): asserts options is Readonly<Record<string, unknown>> {
  const problem = optionsProblem(caller, options, forms);
  if (problem !== undefined) throw new SessionError("InvalidOption", problem.message);
}
