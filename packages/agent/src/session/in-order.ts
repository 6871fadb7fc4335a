/** Does one thing after the other: while one takes time, those that come after it wait. */
export function inOrder(): (work: () => void | Promise<void>) => void {
  const waiting: (() => void | Promise<void>)[] = [];
  let busy = 0;
  const isFree = (): boolean => busy === 0;
  const goOn = (): void => {
    while (isFree()) {
      const work = waiting.shift();
      if (work === undefined) return;
      run(work);
    }
  };
  const run = (work: () => void | Promise<void>): void => {
    const done = work();
    if (done === undefined) return;
    busy += 1;
    void done.then(() => {
      busy -= 1;
      goOn();
    });
  };
  return (work) => {
    if (isFree()) run(work);
    else waiting.push(work);
  };
}
