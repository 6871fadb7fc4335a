import type { Tool } from "@moora/agent-core-effects";
import { checkOptions, required, type OptionForms } from "@moora/agent-core-effects/internal";
import { RootFolder } from "./files/root-folder.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { searchFilesTool } from "./search-files.ts";

/** The options of `fileTools`. */
export interface FileToolsOptions {
  /** The only folder that the tools read. */
  readonly root: string;
  /**
   * Files and folders that they never read or list, also through links: paths that need not exist. A relative path counts from `root` and
   * from the current folder: both are excluded. `*` matches any characters of the name of a file or folder, as in
   * `data/*.key`, and `**` as a whole name any folders, or none. Default: none. What `excludeFromFileTools` names, JSONL logs of Moora and
   * what is beside them, keys for `/mcp`, lists of users with tokens, and folders named `.moora` are always excluded.
   */
  readonly exclude?: readonly string[];
}

const forms: OptionForms<FileToolsOptions> = { root: required("string"), exclude: "texts" };

/**
 * Creates `list_files`, `read_file` and `search_files` for one folder. They only read: paths above the folder, links that
 * lead out of it, excluded paths and special files are refused. Throws if `root` is not a folder, or is excluded. Low risk,
 * `replay: "safe"`.
 */
export function fileTools(options: FileToolsOptions): readonly Tool[] {
  checkOptions("fileTools", options, forms);
  const { root, exclude = [] } = options;
  const folder = new RootFolder(root, exclude);
  return [listFilesTool(folder), readFileTool(folder), searchFilesTool(folder)];
}
