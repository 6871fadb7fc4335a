/** What the front matter of a skill says of it. Fields that the format does not have are left out. */
export interface SkillMetadata {
  /** 1 to 64 lower-case letters, digits and single hyphens: the name of its folder. */
  readonly name: string;
  /** What the skill does and when to use it, in at most 1,024 characters. */
  readonly description: string;
  readonly license?: string;
  /** What the skill needs of its environment, in at most 500 characters. */
  readonly compatibility?: string;
  /** What the format leaves to applications. Values that are not texts are left out. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The tools that the skill would like to use without asking. It gives no right: the approvals of the agent decide. */
  readonly allowedTools?: readonly string[];
}

/** A `SKILL.md` as its front matter and its instructions. */
export interface SkillText {
  readonly metadata: SkillMetadata;
  readonly instructions: string;
}

/** The function `parse` of the package `yaml`. Its own type would be in our declarations, and users need not have the package. */
export type ParseYaml = (
  text: string,
  options: { readonly schema: "failsafe"; readonly logLevel: "error" },
) => unknown;

/** Why a skill is invalid. */
export class InvalidSkill extends Error {
  override readonly name = "InvalidSkill";
}

const fences = /^---[ \t]*\r?\n([^]*?)(?<=\n)---[ \t]*(?:\r?\n([^]*))?$/;
export const maxDescriptionLength = 1_024;
const skillName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Reads a `SKILL.md` of the form of agentskills.io. Throws `InvalidSkill` with the reason. */
export function readSkillText(text: string, folder: string, parseYaml: ParseYaml): SkillText {
  const [, yaml, instructions = ""] =
    fences.exec(text) ?? refuse("It must begin with front matter between two lines ---.");
  const fields = fieldsOf(yaml ?? "", parseYaml);
  const name = textOf(fields, "name", 64) ?? refuse("The front matter has no name.");
  if (!skillName.test(name))
    refuse(`The name must be lower-case letters, digits and single hyphens, got ${JSON.stringify(name)}.`);
  if (name !== folder)
    refuse(`The name must be that of its folder, ${JSON.stringify(folder)}, got "${name}".`);
  const description =
    textOf(fields, "description", maxDescriptionLength) ?? refuse("The front matter has no description.");
  const license = textOf(fields, "license", Number.POSITIVE_INFINITY);
  const compatibility = textOf(fields, "compatibility", 500);
  const given = metadataOf(fields.get("metadata"));
  const allowedTools = toolsOf(fields.get("allowed-tools"));
  const metadata = {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(given === undefined ? {} : { metadata: given }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
  };
  return { metadata, instructions: instructions.trim() };
}

type Fields = ReadonlyMap<string, unknown>;

/** In the failsafe schema every scalar is a text, so that `version: 1.0` stays what was written. */
function fieldsOf(yaml: string, parseYaml: ParseYaml): Fields {
  let parsed: unknown;
  try {
    parsed = parseYaml(yaml, { schema: "failsafe", logLevel: "error" });
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    refuse(`Its front matter is not YAML: ${reason.replace(/:$/, ".")}`);
  }
  return isMap(parsed)
    ? new Map(Object.entries(parsed))
    : refuse("Its front matter must be fields, such as name: value.");
}

/** A text of 1 to `limit` characters; undefined for a field that is missing or empty. */
function textOf(fields: Fields, name: string, limit: number): string | undefined {
  const value = fields.get(name) ?? "";
  if (typeof value !== "string") return refuse(`The ${name} must be a text.`);
  const text = value.trim();
  if (text.length > limit) refuse(`The ${name} has ${text.length} characters; the limit is ${limit}.`);
  return text === "" ? undefined : text;
}

function metadataOf(value: unknown): SkillMetadata["metadata"] {
  if (value === undefined || value === "") return undefined;
  const entries = isMap(value) ? Object.entries(value) : refuse("The metadata must be a map.");
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
  return Object.fromEntries(entries.filter(isText));
}

function toolsOf(value: unknown): SkillMetadata["allowedTools"] {
  if (value === undefined || value === "") return undefined;
  const tools: readonly unknown[] =
    typeof value === "string" ? value.trim().split(/\s+/) : Array.isArray(value) ? value : [];
  const texts = tools.filter((tool) => typeof tool === "string");
  return tools.length > 0 && texts.length === tools.length
    ? texts
    : refuse("The allowed-tools must be a text or a list of texts.");
}

const isMap = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function refuse(reason: string): never {
  throw new InvalidSkill(reason);
}
