import { readdirSync } from "node:fs";
import { errorCode } from "../error-code.ts";
import { HolderFile, hasNoListener } from "./holder-file.ts";
import { hasEnded } from "./process-identity.ts";

/** The holders of the locks in a folder: the own holder file, and whether other holders are alive. */
export class Holders {
  readonly folder: string;
  /** Names of holders that a probe found dead. */
  readonly #dead = new Set<string>();
  #own: HolderFile | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The own holder file, which is created on first use. */
  own(): HolderFile {
    return (this.#own ??= new HolderFile(this.folder));
  }

  /** Replaces the own holder file after it was deleted. */
  replaceOwn(): HolderFile {
    this.close();
    return this.own();
  }

  isOwn(holder: string): boolean {
    return holder === this.#own?.name;
  }

  /** The names of all files in the folder; an empty list when it does not exist. */
  files(): readonly string[] {
    try {
      return readdirSync(this.folder);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Whether a holder has certainly ended. */
  hasEnded(holder: string): boolean {
    return this.#dead.has(holder) || hasEnded(holder);
  }

  /** Finds out whether the holder of a file is alive, for `hasEnded`. */
  async probe(file: string): Promise<void> {
    if (await hasNoListener(this.folder, file)) this.#dead.add(holderOf(file));
  }

  close(): void {
    this.#own?.remove();
    this.#own = undefined;
  }
}

/** The holder of a file: its last part, since a claim is named after what it claims, and then its holder. */
export const holderOf = (file: string): string => file.slice(file.lastIndexOf(".") + 1);
