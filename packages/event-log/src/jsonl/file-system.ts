/** The functions of `node:fs` that a JSONL log uses for its data. Tests pass implementations that fail or lose power. */
export interface FileSystem {
  openSync(path: string, flags: string, mode: number): number;
  closeSync(fd: number): void;
  readSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  fsyncSync(fd: number): void;
  fdatasyncSync(fd: number): void;
  fstatSync(fd: number): { readonly size: number; readonly mode: number };
  fchmodSync(fd: number, mode: number): void;
  ftruncateSync(fd: number, length: number): void;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): string | undefined;
  readdirSync(path: string): string[];
}
