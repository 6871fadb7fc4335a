import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Why a module cannot be loaded: file, line and column where they are known, and the message. */
export function loadError(error: unknown, url: string): string {
  if (!(error instanceof Error)) return String(error);
  const location =
    locationIn(error.stack ?? "") ?? (error instanceof SyntaxError ? locateSyntaxError(url) : undefined);
  const message = `${error.name}: ${error.message}`;
  return location === undefined ? message : `${location}: ${message}`;
}

/**
 * Node shows the place of a syntax error only when it prints an uncaught error. So the module is loaded again in another
 * process. Nothing of it runs there: its syntax is checked first.
 */
function locateSyntaxError(url: string): string | undefined {
  const program = `import(${JSON.stringify(url)})`;
  const { stderr } = spawnSync(
    process.execPath,
    [...process.execArgv, "--input-type=module", "--eval", program],
    { encoding: "utf8", timeout: 10_000 },
  );
  return locationIn(stderr);
}

/** The place of an error in its stack, or as Node prints it. */
const locationIn = (text: string): string | undefined => markedLocation(text) ?? frameLocation(text);

/** The place at the beginning, followed by the source and a line that marks the column. */
function markedLocation(text: string): string | undefined {
  const [, file = "", line = "", mark = ""] =
    /(?:^|\n)((?:file:\/\/)?\/[^\n]*):(\d+)\n(?:[^\n]*\n){1,4}?([^\S\n]*)\^/.exec(text) ?? [];
  return file === "" ? undefined : `${pathOf(file)}:${line}:${mark.length + 1}`;
}

/** The first frame of the stack in a file of the user, rather than of a package that the file calls. */
function frameLocation(text: string): string | undefined {
  const frames = [...text.matchAll(/\n\s+at [^\n]*?(file:\/\/[^\n]+?):(\d+):(\d+)/g)];
  const frame = frames.find(([at]) => !at.includes("/node_modules/")) ?? frames[0];
  if (frame === undefined) return undefined;
  const [, file = "", line = "", column = ""] = frame;
  return `${pathOf(file)}:${line}:${column}`;
}

const pathOf = (file: string): string => (file.startsWith("file://") ? fileURLToPath(file) : file);
