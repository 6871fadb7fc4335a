import type { Tool } from "@moora/agent-core-effects";
import { RootFolder } from "./files/root-folder.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { searchFilesTool } from "./search-files.ts";

/**
 * list_files, read_file and search_files under one folder: nothing above it, no link out of it and no special file is
 * ever opened. They only read. Throws where there is no such folder.
 */
export function fileTools({ root }: { readonly root: string }): readonly Tool[] {
  const folder = new RootFolder(root);
  return [listFilesTool(folder), readFileTool(folder), searchFilesTool(folder)];
}
