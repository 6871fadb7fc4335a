import { watch } from "node:fs";

/** Calls back with the name of a file in a folder that has changed, or null. Returns a function that stops it. */
export function watchFolder(folder: string, changed: (file: string | null) => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, file) => changed(file));
    watcher.on("error", () => undefined);
    return () => watcher.close();
  } catch {
    // Systems limit how many folders may be watched: then polling has to do.
    return () => undefined;
  }
}
