import { chainStart } from "../chain.ts";
import { errorCode } from "../error-code.ts";
import { LogError } from "../log-error.ts";
import type { LogInfo } from "../port.ts";
import { sortById } from "../rows.ts";
import type { JsonlDirectory } from "./directory.ts";
import { fileNameOf, logExtension } from "./file-name.ts";
import { findLogEnd, readHeader } from "./header-and-end.ts";
import { damagedHeader } from "./header-line.ts";
import { scan } from "./scan.ts";

/** The error codes that concern one file only. */
const unreadableCodes: ReadonlySet<unknown> = new Set(["EACCES", "EISDIR", "EPERM"]);

/** Lists the sessions of a directory by id. Skips files that cannot be read, with a notice. Writes nothing. */
export function listSessions(directory: JsonlDirectory): readonly LogInfo[] {
  const infos: LogInfo[] = [];
  for (const file of directory.files.names(directory.path)) {
    if (!file.endsWith(logExtension)) continue;
    const info = infoOf(directory, file);
    if (info !== undefined) infos.push(info);
  }
  return sortById(infos);
}

function infoOf(directory: JsonlDirectory, file: string): LogInfo | undefined {
  const { files } = directory;
  try {
    return files.withFile(directory.pathOf(file, ""), "r", (fd) => {
      const { line, length } = readHeader(files, fd);
      if (line.header === undefined) return undefined;
      if (file !== fileNameOf(line.id) + logExtension)
        throw damagedHeader("The file name belongs to another session.");
      const start = { offset: length, head: chainStart(line.header) };
      const size = files.size(fd);
      const end = findLogEnd(files, fd, start, size)?.[1];
      const head = end?.head ?? scan(files.bytes(fd, length, size), start.head).head;
      return { id: line.id, head: head.seq, header: line.header };
    });
  } catch (error) {
    if (!(error instanceof LogError || unreadableCodes.has(errorCode(error)))) throw error;
    directory.notice({ type: "unreadable-session", id: file, afterSeq: 0, droppedBytes: 0 });
    return undefined;
  }
}
