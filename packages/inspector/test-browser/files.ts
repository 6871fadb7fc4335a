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

  /** The address of the inspector as a file, with a session in it if one is given. */
  async page(exported?: string): Promise<string> {
    return `file://${this.write("page.html", (await inspectorFile(exported)).html)}`;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
