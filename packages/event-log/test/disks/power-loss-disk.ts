import type { FileSystem } from "../../src/jsonl/file-system.ts";
import { systemError } from "./failing-file-system.ts";

const sectorSize = 512;

type Change =
  | { readonly type: "write"; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly type: "truncate"; readonly length: number };

/** A file: its bytes, the bytes that are durable, and the changes since, which may or may not survive. */
interface Node {
  bytes: Uint8Array;
  durable: Uint8Array;
  pending: Change[];
}

type Names = Map<string, Node>;

/**
 * A disk in memory that can lose power. Synced data survives; of the rest, each change to a directory and each sector of a
 * write survives or not, independently of their order. Directories exist only as prefixes of paths.
 */
export class PowerLossDisk implements FileSystem {
  readonly #names: Names;
  readonly #durableNames: Names;
  #pendingNames: (readonly [path: string, node: Node | undefined])[][] = [];
  readonly #open = new Map<number, { readonly path: string; readonly node: Node | undefined }>();
  #nextFd = 3;

  constructor(names: Names = new Map()) {
    this.#names = new Map(names);
    this.#durableNames = new Map(names);
  }

  /** Returns a disk with a possible content after an outage, and without open files. */
  losePower(random: () => number): PowerLossDisk {
    const names = new Map(this.#durableNames);
    for (const changes of this.#pendingNames)
      if (random() < 0.5) for (const [path, node] of changes) rename(names, path, node);

    const survivors = new Map<Node, Node>();
    for (const [path, node] of names) {
      const survivor = survivors.get(node) ?? surviveOutage(node, random);
      survivors.set(node, survivor);
      names.set(path, survivor);
    }
    return new PowerLossDisk(names);
  }

  openSync(path: string, flags: string): number {
    const node = this.#names.get(path) ?? (flags === "w" ? this.#create(path) : undefined);
    const isDirectory = [...this.#names.keys(), ...this.#durableNames.keys()].some((name) =>
      name.startsWith(`${path}/`),
    );
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
      open.node.durable = open.node.bytes.slice();
      open.node.pending = [];
      return;
    }
    // A directory: syncing it makes the names of files durable, not their content.
    for (const changes of this.#pendingNames)
      for (const [path, node] of changes) rename(this.#durableNames, path, node);

    this.#pendingNames = [];
  }

  fdatasyncSync(fd: number): void {
    this.fsyncSync(fd);
  }

  fstatSync(fd: number): { readonly size: number; readonly mode: number } {
    return { size: this.#node(fd).bytes.length, mode: 0o600 };
  }

  fchmodSync(): void {
    // A power cut does not change permissions.
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
    const node: Node = { bytes: new Uint8Array(), durable: new Uint8Array(), pending: [] };
    this.#rename([[path, node]]);
    return node;
  }

  #rename(changes: (readonly [string, Node | undefined])[]): void {
    for (const [path, node] of changes) rename(this.#names, path, node);
    this.#pendingNames.push(changes);
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

function change(node: Node, update: Change): void {
  node.bytes = applyChange(node.bytes, update);
  node.pending.push(update);
}

function applyChange(bytes: Uint8Array, update: Change): Uint8Array {
  const length =
    update.type === "truncate" ? update.length : Math.max(bytes.length, update.offset + update.bytes.length);
  const result = new Uint8Array(length);
  result.set(bytes.subarray(0, length));
  if (update.type === "write") result.set(update.bytes, update.offset);
  return result;
}

function surviveOutage(node: Node, random: () => number): Node {
  let bytes: Uint8Array = node.durable;
  for (const update of node.pending)
    for (const part of partsOf(update, random)) bytes = applyChange(bytes, part);
  return { bytes, durable: bytes, pending: [] };
}

/** The surviving part of a change: nothing, all, its beginning, or some of its sectors; lost sectors read as NUL. */
function partsOf(update: Change, random: () => number): readonly Change[] {
  const fate = random();
  if (fate < 0.25) return [];
  if (update.type === "truncate" || fate < 0.5) return [update];
  if (fate < 0.75)
    return [{ ...update, bytes: update.bytes.slice(0, Math.floor(random() * update.bytes.length)) }];
  const end = update.offset + update.bytes.length;
  const sectors: Change[] = [];
  for (let start = update.offset; start < end;) {
    const next = Math.min(end, start + sectorSize - (start % sectorSize));
    const bytes = update.bytes.slice(start - update.offset, next - update.offset);
    if (random() < 0.5) sectors.push({ type: "write", offset: start, bytes });
    start = next;
  }
  return sectors;
}
