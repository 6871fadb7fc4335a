import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspectorFile } from "@moora/inspector";

/** A folder for the files of a test. */
export class Files implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "moora-inspector-"));

  /** Writes a file. Returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  /** The address of the inspector as a file, with a session and its problem in it if they are given. */
  async page(exported?: string, problem?: string): Promise<string> {
    const { html } = await inspectorFile(exported, problem === undefined ? {} : { problem });
    return `file://${this.write("page.html", html)}`;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
