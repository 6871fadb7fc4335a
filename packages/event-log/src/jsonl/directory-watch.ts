import { statSync } from "node:fs";
import { HeadWatch } from "../head-watch.ts";
import { watchFolder } from "../watch-folder.ts";
import { logExtension } from "./file-name.ts";

/** The number of files that one poll checks. The watcher of the folder reports nearly all changes; polls find the rest. */
const filesPerPoll = 100;

/** Watches the session files of a folder with one file watcher and one timer. */
export function watchDirectory(directory: string, pathOf: (name: string) => string): HeadWatch {
  const headsOf = (names: readonly string[]): ReadonlyMap<string, string> =>
    new Map(names.map((name) => [name, stampOf(pathOf(name))]));
  const heads = new HeadWatch({
    headsOf,
    keysPerPoll: filesPerPoll,
    source: (onChange) =>
      watchFolder(directory, (file) => {
        if (file === null) return onChange();
        const name = file.slice(0, -logExtension.length);
        if (file.endsWith(logExtension) && heads.has(name)) onChange([name]);
      }),
  });
  return heads;
}

/** Identifies the content of a file to the watch: another file, or another size, may contain other records. */
export const fileStamp = ({ ino, size }: { readonly ino: bigint; readonly size: number | bigint }): string =>
  `${ino}/${size}`;

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "none" : fileStamp(stat);
}
