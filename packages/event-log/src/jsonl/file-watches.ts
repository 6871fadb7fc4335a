import { type FSWatcher, statSync, watch } from "node:fs";
import { Listeners } from "../listeners.ts";

/** How often a watched file is looked at where the system tells nothing of its changes, as on network disks. */
const pollMs = 1_000;

/** Who listens to which file. A file is watched while somebody does; watching keeps no process alive. */
export class FileWatches {
  readonly #pathOf: (name: string) => string;
  readonly #listeners = new Listeners();
  readonly #watched = new Map<string, () => void>();

  constructor(pathOf: (name: string) => string) {
    this.#pathOf = pathOf;
  }

  add(name: string, listener: () => void): () => void {
    const stopListening = this.#listeners.add(name, listener);
    if (!this.#watched.has(name)) {
      this.#watched.set(
        name,
        watchFile(this.#pathOf(name), () => this.notify(name)),
      );
    }
    return () => {
      stopListening();
      if (this.#listeners.has(name)) return;
      this.#watched.get(name)?.();
      this.#watched.delete(name);
    };
  }

  notify(name: string): void {
    this.#listeners.notify(name);
  }

  close(): void {
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
    this.#listeners.clear();
  }
}

/** Calls back when a file has another length or is another file. */
function watchFile(path: string, changed: () => void): () => void {
  let seen = stampOf(path);
  const look = (): void => {
    const now = stampOf(path);
    if (now === seen) return;
    seen = now;
    changed();
  };
  const timer = setInterval(look, pollMs).unref();
  const watcher = watchIfPossible(path, look);
  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "none" : `${stat.ino}/${stat.size}`;
}

/** Systems limit how many files one may watch: then the slow look has to do. */
function watchIfPossible(path: string, look: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, look).on("error", () => undefined);
  } catch {
    return undefined;
  }
}
