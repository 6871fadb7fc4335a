// These functions run in the page: they use nothing of this module.

/** Records tasks that block the page for more than 50 ms. To be run before the scripts of the page. */
export function observeLongTasks(): void {
  const tasks: number[] = [];
  Reflect.set(globalThis, "longTasks", tasks);
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  });
  observer.observe({ type: "longtask", buffered: true });
}

/** The long tasks since the last call. */
export function takeLongTasks(): readonly number[] {
  const tasks: unknown = Reflect.get(globalThis, "longTasks");
  return Array.isArray(tasks) ? tasks.splice(0) : [];
}

/** When the first content was painted, in milliseconds from the beginning of the navigation. */
export const firstPaint = (): Promise<number> =>
  new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => {
      const [first] = list.getEntriesByName("first-contentful-paint");
      if (first === undefined) return;
      observer.disconnect();
      resolve(first.startTime);
    });
    observer.observe({ type: "paint", buffered: true });
  });

/** Goes to each position with the slider. Returns the milliseconds of each step, to the frame that shows it. */
export async function scrubTo(positions: readonly number[]): Promise<readonly number[]> {
  const slider = document.querySelector<HTMLInputElement>("input[type=range]");
  const panels = document.querySelector<HTMLElement>(".panels");
  if (slider === null || panels === null) throw new Error("The session is not open.");
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  const times: number[] = [];
  for (const position of positions) {
    await frame();
    const from = performance.now();
    slider.value = String(position);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    while (panels.dataset["seq"] !== slider.value) await frame();
    times.push(performance.now() - from);
  }
  return times;
}

/** Moves the slider through the session, a little in each frame. Returns the milliseconds between frames. */
export async function dragThrough(frames: number): Promise<readonly number[]> {
  const slider = document.querySelector<HTMLInputElement>("input[type=range]");
  if (slider === null) throw new Error("The session is not open.");
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  const times: number[] = [];
  let last = await frame();
  for (let count = 1; count <= frames; count += 1) {
    slider.value = String(Math.round((Number(slider.max) * count) / frames));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}

/** Types a query at once. Returns the milliseconds to the frame that shows the number of matches. */
export async function searchFor(query: string): Promise<number> {
  const input = document.querySelector<HTMLInputElement>("#search");
  const output = document.querySelector(".search output");
  if (input === null || output === null) throw new Error("The session is not open.");
  const type = (text: string): void => {
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  type("");
  while (output.textContent !== "") await frame();
  const from = performance.now();
  type(query);
  while (output.textContent === "") await frame();
  return performance.now() - from;
}
