/** One way of running the calls of a loop. */
export interface Way {
  readonly name: string;
  /** The way beside which it is shown, such as the bare step of its engine. */
  readonly beside?: string;
  /** Runs the calls of a loop once, in a session or workflow of its own. */
  readonly run: (sample: number) => Promise<unknown>;
}

/** The ways of a host, and what runs for them. */
export interface HostWays extends AsyncDisposable {
  readonly ways: readonly Way[];
}
