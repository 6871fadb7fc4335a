import { watch } from "node:fs";

/** Calls the listener with the name of each changed file in a folder, or null if unknown. Returns a function that stops it. */
export function watchFolder(folder: string, onChange: (file: string | null) => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, file) => onChange(file));
    watcher.on("error", () => undefined);
    return () => watcher.close();
  } catch {
    // Operating systems limit the number of watchers. Changes are then found by polling.
    return () => undefined;
  }
}
