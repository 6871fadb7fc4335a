/** Work that is done in the next microtask, all of it in the same one. */
export class Microtask {
  #waiting: (() => void)[] = [];

  add(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) void Promise.resolve().then(() => this.#run());
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  }
}
