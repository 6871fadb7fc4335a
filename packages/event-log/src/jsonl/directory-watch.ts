import { statSync } from "node:fs";
import { HeadWatch } from "../head-watch.ts";
import { watchFolder } from "../watch-folder.ts";
import { logExtension } from "./file-name.ts";

/** A poll looks at so many files: the watcher of the folder reports nearly all changes, and polls find the others. */
const filesPerPoll = 100;

/** Watches the files of sessions in a folder: one watcher of the folder, and one timer, for all of them. */
export function watchDirectory(directory: string, pathOf: (name: string) => string): HeadWatch {
  const headsOf = (names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(names.map((name) => [name, stampOf(pathOf(name))]));
  const heads = new HeadWatch({
    headsOf,
    keysPerPoll: filesPerPoll,
    source: (changed) =>
      watchFolder(directory, (file) => {
        if (file === null) return changed();
        const name = file.slice(0, -logExtension.length);
        if (file.endsWith(logExtension) && heads.has(name)) changed([name]);
      }),
  });
  return heads;
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "none" : `${stat.ino}/${stat.size}`;
}
