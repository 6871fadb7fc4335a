import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** A fenced block of a page: its language, what stands after it, and its text. */
export interface Fence {
  readonly info: string;
  readonly text: string;
}

/** A page of the documentation. */
export class Page {
  readonly path: string;
  text: string;

  constructor(path: string) {
    this.path = join(root, path);
    this.text = readFileSync(this.path, "utf8");
  }

  get fences(): readonly Fence[] {
    return [...this.text.matchAll(/^```(\S.*)\n([\s\S]*?)^```$/gm)].map(([, info = "", text = ""]) => ({
      info,
      text,
    }));
  }

  /** The text of the one block with these words after its fence. */
  block(info: string): string {
    const found = this.fences.filter((fence) => fence.info === info);
    if (found.length !== 1) throw new Error(`${this.path} has ${found.length} blocks "${info}".`);
    return found[0]?.text ?? "";
  }

  /**
   * What a block shows, as the run printed it. With MOORA_UPDATE_PAGES in the environment, the page is rewritten to show
   * that.
   */
  shown(info: string, printed: string): string {
    if (process.env["MOORA_UPDATE_PAGES"] !== undefined) {
      this.text = this.text.replace(`\`\`\`${info}\n${this.block(info)}`, () => `\`\`\`${info}\n${printed}`);
      writeFileSync(this.path, this.text);
    }
    return this.block(info);
  }
}

/** How a program ended. */
export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** A folder of programs, in which each one runs as a process of its own. */
export class Programs implements Disposable {
  readonly path: string;

  /** `parent` is the folder whose packages the programs see. Default: the root of the repository. */
  constructor(parent: string = root) {
    this.path = mkdtempSync(join(parent, ".fences-pages-"));
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.path, file), text);
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), "utf8");
  }

  /** Runs a file with Node, against the sources. */
  run(file: string): Ended {
    return this.#command(["--conditions=@moora/source", file]);
  }

  /** Runs the tests of a folder with vitest, against the sources. */
  test(folder: string): Ended {
    this.write("vitest.config.ts", config);
    return this.#command([join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", ".", folder]);
  }

  #command(args: readonly string[]): Ended {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: this.path,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", VITEST: "", NODE_OPTIONS: "" },
    });
    return { status, output: `${stdout}${stderr}` };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

const config = `import { defaultServerConditions } from "vite";
const conditions = ["@moora/source", ...defaultServerConditions];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { execArgv: ["--conditions=@moora/source"], testTimeout: 60_000 },
};
`;

/** The type errors of the programs of a folder. Default of `project`, a `tsconfig.json`: the options of this repository. */
export function typeErrors(
  programs: Programs,
  files: readonly string[],
  project: object = { extends: join(root, "tsconfig.json") },
): string {
  programs.write("tsconfig.json", JSON.stringify({ ...project, files, include: [] }));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", programs.path], {
    cwd: dirname(programs.path),
    encoding: "utf8",
  });
  return stdout;
}
