import { choicesFrom, type ChoiceScript } from "./choices.ts";
import { simulateOnce, type Once, type OnceOptions } from "./simulate-once.ts";

/** A failing simulation, as short and as plain as it could be made. */
export interface Shrunk {
  readonly choices: ChoiceScript;
  readonly once: Once;
}

/** Whether two simulations fail in the same way: by the same law or invariant. */
const kindOf = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name} ${failure.message.split(":", 1)[0] ?? ""}` : String(failure);

/**
 * Shortens a failing simulation while it keeps failing in the same way: leaves out what happened, then makes what is
 * left as plain as it can be. Tries at most `attempts` simulations.
 */
export async function shrunk(
  options: Omit<OnceOptions, "choices" | "length">,
  failing: Shrunk,
  attempts = 400,
): Promise<Shrunk> {
  const kind = kindOf(failing.once.failure);
  let best = failing;
  let left = attempts;
  const fails = async (script: ChoiceScript): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    const choices = choicesFrom(script);
    const once = await simulateOnce({ ...options, choices, length: script.length - 1 });
    if (kindOf(once.failure) !== kind) return false;
    best = { choices: choices.made.slice(0, script.length).map(trimmed), once };
    return true;
  };
  for (let size = Math.ceil((best.choices.length - 1) / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = best.choices.length - size; at >= 1; at -= size)
      await fails([...best.choices.slice(0, at), ...best.choices.slice(at + size)]);
  for (let step = 0; step < best.choices.length; step += 1)
    for (let at = 0; at < (best.choices[step]?.length ?? 0); at += 1)
      await fails(best.choices.map((choices, index) => (index === step ? choices.with(at, 0) : choices)));
  return best;
}

/** Zeros at the end are what is chosen when choices run out. */
const trimmed = (choices: readonly number[]): readonly number[] =>
  choices.slice(0, choices.findLastIndex((choice) => choice !== 0) + 1);
