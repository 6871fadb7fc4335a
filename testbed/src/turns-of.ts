/** How many turns the event loop has while the work runs. The log is in memory or in a file: its answers wait for nothing. */
export async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work.finally(() => (isOver = true));
  return turns;
}
