import { join } from "node:path";
import { defineTool, type Tool } from "@moora/agent-core-effects";
import { checkOptions, oneLine, oneOf, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { isMissing } from "@moora/llm/internal";
import { fileText, kilobytes } from "./files/file-text.ts";
import { RootFolder } from "./files/root-folder.ts";
import { walk } from "./files/walk.ts";
import { lineName } from "./list-files.ts";
import { lineFields, shownFile } from "./read-file.ts";
import { Refused } from "./refused.ts";
import {
  InvalidSkill,
  maxDescriptionLength,
  readSkillText,
  type ParseYaml,
  type SkillMetadata,
  type SkillText,
} from "./skills/skill-text.ts";
import { textAt } from "./tool-input.ts";

/** Options of `loadSkills`. */
export interface LoadSkillsOptions {
  /** Whether an invalid skill is an error, or is left out and listed in `skipped`. Default: `refuse`. */
  readonly invalid?: "refuse" | "skip";
}

/** A skill that was left out. */
export interface SkippedSkill {
  /** The path of its `SKILL.md`. */
  readonly file: string;
  readonly reason: string;
}

/** Skills for an agent. */
export interface Skills {
  /** The names and descriptions, for the system prompt. Empty without skills. */
  readonly catalog: string;
  /** `load_skill` and `read_skill_file`; none without skills. */
  readonly tools: readonly Tool[];
  readonly skills: readonly SkillMetadata[];
  readonly skipped: readonly SkippedSkill[];
}

interface Skill extends SkillText {
  readonly root: RootFolder;
  /** The paths of its other files. */
  readonly files: readonly string[];
}

const forms: OptionForms<LoadSkillsOptions> = { invalid: oneOf("refuse", "skip") };

const skillFile = "SKILL.md";
const maxBytes = 60_000;
const maxFiles = 200;

/**
 * Loads the skills in a folder: each is a folder with a `SKILL.md` of the form of agentskills.io. An agent reads the catalog in its prompt,
 * loads the instructions of a skill with `load_skill` when a task fits, and reads its other files with `read_skill_file`. The instructions
 * are those of the time of this call; both tools only read, and their results are recorded. Scripts are never run, and `allowed-tools`
 * gives no right.
 *
 * A `SKILL.md` may have 60 kB of UTF-8. Nothing outside of a skill is read, also not through links. Throws `BuildError` with the file and
 * the reason for an invalid skill, unless `invalid` is `skip`, and if the package `yaml` is missing.
 */
export async function loadSkills(folder: string, options: LoadSkillsOptions = {}): Promise<Skills> {
  checkOptions("loadSkills", options, forms);
  const root = new RootFolder(folder);
  const parseYaml = await loadYaml();
  const skills: Skill[] = [];
  const skipped: SkippedSkill[] = [];
  const { signal } = new AbortController();
  for await (const { path, kind } of walk(root, ".", { depth: 1, signal })) {
    if (kind !== "folder" && kind !== "link") continue;
    try {
      const skill = await skillIn(root, path, parseYaml, signal);
      if (skill !== undefined) skills.push(skill);
    } catch (error) {
      if (!(error instanceof InvalidSkill)) throw error;
      const file = join(root.path, path, skillFile);
      if (options.invalid !== "skip") refuse(`Invalid skill ${file}: ${error.message}`);
      skipped.push({ file, reason: error.message });
    }
  }
  return { ...agentParts(skills), skills: skills.map(({ metadata }) => metadata), skipped };
}

/** The skill in a folder; undefined for a folder without a `SKILL.md`. Throws `InvalidSkill`. */
async function skillIn(
  parent: RootFolder,
  folder: string,
  parseYaml: ParseYaml,
  signal: AbortSignal,
): Promise<Skill | undefined> {
  try {
    await (await parent.open(folder, "folder")).close();
    const root = new RootFolder(join(parent.path, folder));
    const file = await fileText(root, skillFile, { maxBytes, signal });
    if (file.type === "too-large")
      throw new InvalidSkill(`It has ${kilobytes(file.bytes)}; the limit is ${kilobytes(maxBytes)}.`);
    if (file.type === "binary") throw new InvalidSkill("It is a binary file.");
    if (!file.isUtf8) throw new InvalidSkill("It is not UTF-8.");
    return { ...readSkillText(file.text, folder, parseYaml), root, files: await filesIn(root, signal) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "missing" || error.code === "not-a-folder") return undefined;
    throw new InvalidSkill(error.message);
  }
}

async function filesIn(root: RootFolder, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const { path, kind } of walk(root, ".", { depth: 8, signal })) {
    if (files.length === maxFiles) break;
    if (kind === "file" && path !== skillFile) files.push(lineName(path));
  }
  return files;
}

function agentParts(skills: readonly Skill[]): Pick<Skills, "catalog" | "tools"> {
  if (skills.length === 0) return { catalog: "", tools: [] };
  const byName = new Map(skills.map((skill) => [skill.metadata.name, skill]));
  const name = { type: "string", enum: [...byName.keys()], description: "The name of the skill." } as const;
  const skillAt = (input: JsonObject, field: string): Skill => {
    const skill = byName.get(textAt(input, field));
    if (skill === undefined) throw new Error(`There is no skill "${textAt(input, field)}".`);
    return skill;
  };
  const loadSkill = defineTool({
    name: "load_skill",
    description: "Loads the instructions of a skill. Call it before you begin a task that fits the skill.",
    input: { type: "object", properties: { name }, required: ["name"], additionalProperties: false },
    risk: "low",
    replay: "safe",
    execute: (input) => instructionsOf(skillAt(input, "name")),
  });
  const readSkillFile = defineTool({
    name: "read_skill_file",
    description: "Reads a text file of a skill, whole or by lines, as the instructions of the skill name it.",
    input: {
      type: "object",
      properties: { skill: name, ...lineFields("The file, relative to the folder of the skill.") },
      required: ["skill", "path"],
      additionalProperties: false,
    },
    risk: "low",
    replay: "safe",
    timeoutMs: 30_000,
    execute: async (input, { signal }) => await shownFile(skillAt(input, "skill").root, input, signal),
  });
  const lines = skills.map(
    ({ metadata }) => `- ${metadata.name}: ${oneLine(metadata.description, maxDescriptionLength)}`,
  );
  const catalog = [
    "Skills are instructions for certain tasks. Before you begin a task that fits one, load it with load_skill:",
    ...lines,
  ].join("\n");
  return { catalog, tools: [loadSkill, readSkillFile] };
}

function instructionsOf({ metadata, instructions, files }: Skill): string {
  const listed = files.length === 0 ? [] : ["", `Files for read_skill_file: ${files.join(", ")}`];
  const scripts = files.some((file) => file.startsWith("scripts/"))
    ? ["Scripts cannot be run here: do what they do with your tools, or say that you cannot."]
    : [];
  return [`The skill ${metadata.name}:`, "", instructions, ...listed, ...scripts].join("\n");
}

async function loadYaml(): Promise<ParseYaml> {
  try {
    return (await import("yaml")).parse;
  } catch (error) {
    if (!isMissing(error, "yaml")) throw error;
    return refuse("loadSkills needs the package yaml. Run: npm install yaml");
  }
}
