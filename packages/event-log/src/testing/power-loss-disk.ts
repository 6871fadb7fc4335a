import type { FileSystem } from "../jsonl/file-system.ts";
import { systemError } from "./failing-file-system.ts";

const sectorSize = 512;

type Change =
  | { readonly type: "write"; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly type: "truncate"; readonly length: number };

/** A file: its bytes, what the disk surely has of them, and the changes that it may or may not have. */
interface Node {
  bytes: Uint8Array;
  safe: Uint8Array;
  unsafe: Change[];
}

type Names = Map<string, Node>;

/**
 * A disk in memory that can lose power. What was synced survives; of what was not, each change to a directory and each
 * sector of a write may survive or not, whatever came first. Directories are only prefixes of paths.
 */
export class PowerLossDisk implements FileSystem {
  readonly #names: Names;
  readonly #safeNames: Names;
  #unsafeNames: (readonly [path: string, node: Node | undefined])[][] = [];
  readonly #open = new Map<number, { readonly path: string; readonly node: Node | undefined }>();
  #nextFd = 3;

  constructor(names: Names = new Map()) {
    this.#names = new Map(names);
    this.#safeNames = new Map(names);
  }

  /** What a disk may hold when power comes back. Nothing is open on it. */
  losePower(random: () => number): PowerLossDisk {
    const names = new Map(this.#safeNames);
    for (const changes of this.#unsafeNames) {
      if (random() < 0.5) for (const [path, node] of changes) rename(names, path, node);
    }
    const survivors = new Map<Node, Node>();
    for (const [path, node] of names) {
      const survivor = survivors.get(node) ?? survived(node, random);
      survivors.set(node, survivor);
      names.set(path, survivor);
    }
    return new PowerLossDisk(names);
  }

  openSync(path: string, flags: string): number {
    const node = this.#names.get(path) ?? (flags === "w" ? this.#create(path) : undefined);
    const isDirectory = [...this.#names.keys()].some((name) => name.startsWith(`${path}/`));
    if (node === undefined && !isDirectory) throw systemError("ENOENT", "openSync");
    if (flags === "w" && node !== undefined) change(node, { type: "truncate", length: 0 });
    this.#open.set((this.#nextFd += 1), { path, node });
    return this.#nextFd;
  }

  closeSync(fd: number): void {
    this.#open.delete(fd);
  }

  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const found = this.#node(fd).bytes.subarray(position, position + length);
    bytes.set(found, offset);
    return found.length;
  }

  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    change(this.#node(fd), {
      type: "write",
      offset: position,
      bytes: bytes.slice(offset, offset + length),
    });
    return length;
  }

  fsyncSync(fd: number): void {
    const open = this.#open.get(fd);
    if (open?.node !== undefined) {
      open.node.safe = open.node.bytes.slice();
      open.node.unsafe = [];
      return;
    }
    // The directory: only the content of a file is not made safe with its name.
    for (const changes of this.#unsafeNames) {
      for (const [path, node] of changes) rename(this.#safeNames, path, node);
    }
    this.#unsafeNames = [];
  }

  fstatSync(fd: number): { readonly size: number; readonly mode: number; readonly nlink: number } {
    return { size: this.#node(fd).bytes.length, mode: 0o600, nlink: 1 };
  }

  lstatSync(): { isSymbolicLink(): boolean } {
    return { isSymbolicLink: () => false };
  }

  fchmodSync(): void {
    // Permissions are none of what a power cut takes.
  }

  ftruncateSync(fd: number, length: number): void {
    change(this.#node(fd), { type: "truncate", length });
  }

  renameSync(from: string, to: string): void {
    const node = this.#names.get(from);
    if (node === undefined) throw systemError("ENOENT", "renameSync");
    this.#rename([
      [from, undefined],
      [to, node],
    ]);
  }

  unlinkSync(path: string): void {
    if (!this.#names.has(path)) throw systemError("ENOENT", "unlinkSync");
    this.#rename([[path, undefined]]);
  }

  mkdirSync(): undefined {
    return undefined;
  }

  readdirSync(path: string): string[] {
    return [...this.#names.keys()].flatMap((name) =>
      name.startsWith(`${path}/`) ? [name.slice(path.length + 1)] : [],
    );
  }

  #create(path: string): Node {
    const node: Node = { bytes: new Uint8Array(), safe: new Uint8Array(), unsafe: [] };
    this.#rename([[path, node]]);
    return node;
  }

  #rename(changes: (readonly [string, Node | undefined])[]): void {
    for (const [path, node] of changes) rename(this.#names, path, node);
    this.#unsafeNames.push(changes);
  }

  #node(fd: number): Node {
    const node = this.#open.get(fd)?.node;
    if (node === undefined) throw systemError("EBADF", "a file function");
    return node;
  }
}

function rename(names: Names, path: string, node: Node | undefined): void {
  if (node === undefined) names.delete(path);
  else names.set(path, node);
}

function change(node: Node, made: Change): void {
  node.bytes = changed(node.bytes, made);
  node.unsafe.push(made);
}

function changed(bytes: Uint8Array, made: Change): Uint8Array {
  const length =
    made.type === "truncate" ? made.length : Math.max(bytes.length, made.offset + made.bytes.length);
  const result = new Uint8Array(length);
  result.set(bytes.subarray(0, length));
  if (made.type === "write") result.set(made.bytes, made.offset);
  return result;
}

function survived(node: Node, random: () => number): Node {
  let bytes: Uint8Array = node.safe;
  for (const made of node.unsafe) for (const part of partsOf(made, random)) bytes = changed(bytes, part);
  return { bytes, safe: bytes, unsafe: [] };
}

/** What is left of a change: nothing, all, its beginning, or any of its sectors, the others of which read as NUL. */
function partsOf(made: Change, random: () => number): readonly Change[] {
  const fate = random();
  if (fate < 0.25) return [];
  if (made.type === "truncate" || fate < 0.5) return [made];
  if (fate < 0.75) return [{ ...made, bytes: made.bytes.slice(0, Math.floor(random() * made.bytes.length)) }];
  const end = made.offset + made.bytes.length;
  const sectors: Change[] = [];
  for (let start = made.offset; start < end;) {
    const next = Math.min(end, start + sectorSize - (start % sectorSize));
    const bytes = made.bytes.slice(start - made.offset, next - made.offset);
    if (random() < 0.5) sectors.push({ type: "write", offset: start, bytes });
    start = next;
  }
  return sectors;
}
