import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The first executable of this name that the system has, apart from what packages brought. */
export const onPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.includes("node_modules"))
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
