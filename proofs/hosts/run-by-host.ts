/** Runs the runs of one host after another, and calls `onEnd` after the last run of each host. */
export async function runByHost<Run extends { readonly host: string }>(
  runs: readonly Run[],
  run: (one: Run) => Promise<void>,
  onEnd: (host: string) => void,
): Promise<void> {
  for (const [host, ofHost] of Map.groupBy(runs, (one) => one.host)) {
    for (const one of ofHost) await run(one);
    onEnd(host);
  }
}
