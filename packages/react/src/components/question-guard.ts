import { systemClock } from "@moora/agent";
import { useLayoutEffect, useState } from "react";

/** How long the controls of questions ignore presses after the questions have changed, in milliseconds: a double click and a glance. */
export const guardMs = 700;

/**
 * Whether the controls of questions take no press now, so that a press that was meant for an earlier question does not decide a new one.
 * `shown` names the questions on the screen: after each change of it the controls are held for `guardMs`, from the first render on.
 */
export function useQuestionGuard(shown: string): boolean {
  const [seen, setSeen] = useState<string>();
  useLayoutEffect(() => {
    const cancel = systemClock.after(guardMs, () => setSeen(shown));
    return () => {
      cancel();
      setSeen(undefined);
    };
  }, [shown]);
  return seen !== shown;
}
