import { BuildError, type Agent, type Clock, type ErrorReport, type OnApproval } from "@moora/agent";

/** Options of {@link sessionObject}. `Env` is the type of the bindings of the worker. */
export interface SessionObjectOptions<Env> {
  /** The agent of the sessions. Called once for each object that is in memory. */
  // Any answer and any data: the object neither reads nor writes them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly agent: (env: Env) => Agent<any, any>;
  /** What the tools of the agent need of the process, such as a binding; see `defineContext`. Default: none. */
  readonly context?: (env: Env) => object;
  /** Answers questions at once. Default: questions wait for a decision. */
  readonly onApproval?: OnApproval;
  /** How long a session without requests and work stays open, in milliseconds. An open session keeps its object in memory. Default: 10,000. */
  readonly idleMs?: number;
  /** How soon an alarm continues work whose object was lost, in milliseconds. Default: 30,000. */
  readonly heartbeatMs?: number;
  /** Receives the errors that no caller waits for. Default: `console.error`. */
  readonly onError?: (report: ErrorReport) => void;
  /** The clock of the sessions; the alarms are those of the platform. Default: `systemClock`. */
  readonly clock?: (env: Env) => Clock;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0 && value < 2 ** 31;

const forms: Readonly<
  Record<
    keyof SessionObjectOptions<unknown>,
    readonly [expectation: string, fits: (value: unknown) => boolean]
  >
> = {
  agent: ["a function that returns an agent", isFunction],
  context: ["a function that returns an object", isFunction],
  onApproval: ["a function", isFunction],
  idleMs: ["a positive number of milliseconds below 2 ** 31", isPositive],
  heartbeatMs: ["a positive number of milliseconds below 2 ** 31", isPositive],
  onError: ["a function", isFunction],
  clock: ["a function that returns a clock", isFunction],
};

/** Throws `BuildError` for an unknown option and for a value of the wrong form. */
export function checkSessionObjectOptions(options: unknown): void {
  if (typeof options !== "object" || options === null)
    throw new BuildError("sessionObject needs options: sessionObject({ agent: (env) => defineAgent(...) }).");
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(forms, name));
  if (unknown !== undefined) {
    const known = Object.keys(forms).join(", ");
    throw new BuildError(`Unknown option "${unknown}" of sessionObject. Known options: ${known}.`);
  }
  for (const [name, [expectation, fits]] of Object.entries(forms)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined && name !== "agent") continue;
    if (!fits(value))
      throw new BuildError(`${name} of sessionObject must be ${expectation}, got ${String(value)}.`);
  }
}
