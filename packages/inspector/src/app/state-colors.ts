/** The class of a control state, which gives it its color. Custom states share one. */
export const stateClass = (name: string): string => (known.has(name) ? `state-${name}` : "state-custom");

const known: ReadonlySet<string> = new Set([
  "Idle",
  "Planning",
  "WaitingForHuman",
  "Acting",
  "ParallelActing",
  "Observing",
  "Reflecting",
  "Done",
  "Error",
]);

/** The custom property of the style sheet with the color of a control state. */
export const stateColor = (name: string): string => (known.has(name) ? `--state-${name}` : "--state-custom");
