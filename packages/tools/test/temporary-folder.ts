import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder that is removed when the block ends. */
export class TemporaryFolder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "moora-tools-"));

  at(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
