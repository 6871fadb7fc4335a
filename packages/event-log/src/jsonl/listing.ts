import { chainStart } from "../chain.ts";
import { LogError } from "../log-error.ts";
import type { LogInfo } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";
import { logExtension } from "./file-name.ts";
import { findEnd, readHeader } from "./head-of-file.ts";
import { scan } from "./scan.ts";

/** The living sessions of a directory, by id. What cannot be read is left out and told of; nothing is locked or mended. */
export function listed(directory: JsonlDirectory): readonly LogInfo[] {
  const infos: LogInfo[] = [];
  for (const file of directory.files.names(directory.path)) {
    if (!file.endsWith(logExtension)) continue;
    const info = infoOf(directory, file);
    if (info !== undefined) infos.push(info);
  }
  return infos.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function infoOf(directory: JsonlDirectory, file: string): LogInfo | undefined {
  const { files } = directory;
  try {
    return files.withFile(directory.pathOf(file, ""), "r", (fd) => {
      const { line, length } = readHeader(files, fd);
      if (line.header === undefined) return undefined;
      const start = { offset: length, head: chainStart(line.header) };
      const size = files.size(fd);
      const end = findEnd(files, fd, start, size)?.[1];
      const head = end?.head ?? scan(files.bytes(fd, length, size), start.head).head;
      return { id: line.id, head: head.seq, header: line.header };
    });
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    directory.notice({ type: "unreadable-session", id: file, afterSeq: 0, droppedBytes: 0 });
    return undefined;
  }
}
