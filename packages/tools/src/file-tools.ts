import type { Tool } from "@moora/agent-core-effects";
import { RootFolder } from "./files/root-folder.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { searchFilesTool } from "./search-files.ts";

/**
 * Creates `list_files`, `read_file` and `search_files` for one folder. They only read: paths above the folder, links that
 * lead out of it and special files are refused. Throws if `root` is not a folder. Low risk, `replay: "safe"`.
 */
export function fileTools({ root }: { readonly root: string }): readonly Tool[] {
  const folder = new RootFolder(root);
  return [listFilesTool(folder), readFileTool(folder), searchFilesTool(folder)];
}
