import { optionsProblem, type OptionForms, type OptionWords } from "@moora/llm/internal";
import { refuse } from "./errors/build-error.ts";

/**
 * Throws `BuildError` for an unknown option and for a value of the wrong form: callers without types may pass any
 * value. `caller` is the function that received the options.
 */
export function checkOptions<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
  words?: OptionWords,
): void {
  const problem = optionsProblem(caller, options, forms, words);
  if (problem !== undefined) refuse(problem.message);
}
