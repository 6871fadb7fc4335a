import { defaultAgentConfig } from "@moora/agent-core-state-machine";
import { faultNames } from "@moora/agent-testing";
import { logLevels } from "@moora/agent/internal";
import { describe, expect, it } from "vitest";
import { Declarations, type DeclaredField } from "./reference/declarations.ts";
import { observedDefaults } from "./reference/observed-defaults.ts";
import { codeIn, codesIn, tablesOf } from "./reference/tables.ts";

/** The tables of reference pages list what the packages declare: no more, no less, and options with their real defaults. */
const declarations = new Declarations();

interface OptionTable {
  readonly type: string;
  readonly entry: string;
  readonly rows: readonly OptionRow[];
  /** What the type declares, without what the page lists for another type. */
  readonly fields: readonly DeclaredField[];
}

interface OptionRow {
  readonly name: string;
  readonly byDefault: string;
  readonly meaning: string;
}

const configuration = tablesOf("docs/configuration.md");

/** The options that many functions have. The page lists them once; a table may list one that differs. */
const common: readonly string[] = (
  configuration.find(({ subject }) => subject === "options in common")?.rows ?? []
).map(([name = ""]) => codeIn(name) ?? name);

/** Tables such as `fields of TaskOptions, @moora/agent, beyond StartOptions of @moora/agent`. */
const subjectForm = /^fields of (\w+), ([^\s,]+)(?:, beyond (\w+) of (\S+))?$/;

const optionTables: readonly OptionTable[] = [...configuration, ...tablesOf("docs/runner.md")]
  .filter(({ subject }) => subject.startsWith("fields of "))
  .map(({ subject, rows }) => {
    const [, type = "", entry = "", base, baseEntry = ""] = subjectForm.exec(subject) ?? [];
    const declared =
      type === "AgentConfig" ? declarations.flatFieldsOf(entry, type) : declarations.fieldsOf(entry, type);
    const inherited =
      base === undefined ? [] : declarations.fieldsOf(baseEntry, base).map(({ name }) => name);
    return {
      type,
      entry,
      rows: rows.map((cells) => ({
        name: codeIn(cells[0] ?? "") ?? "",
        byDefault: cells.at(-2) ?? "",
        meaning: cells.at(-1) ?? "",
      })),
      fields: declared.filter(({ name }) => !inherited.includes(name)),
    };
  });

/** Types of which every field may be left out where they are options. */
const partial: readonly string[] = ["AgentConfig", "RunLimits", "ServerLimits"];

const described: readonly string[] = [
  "AgentOptions",
  "RunLimits",
  "AgentConfig",
  "ToolSearch",
  "ModelPrice",
  "ToolOptions",
  "DataOptions",
  "AskHumanOptions",
  "ToolAsksOptions",
  "AgentToolOptions",
  "TeamOptions",
  "TeamMember",
  "StartOptions",
  "TaskOptions",
  "OpenOptions",
  "BlobOptions",
  "ForkOptions",
  "RerunOptions",
  "PruneOptions",
  "MoveOptions",
  "SqliteOptions",
  "JsonlOptions",
  "IndexedDbOptions",
  "PostgresOptions",
  "ConnectionOptions",
  "OpenAiChatOptions",
  "ChatProfile",
  "AnthropicOptions",
  "AiSdkOptions",
  "FallbackOptions",
  "CachedOptions",
  "RateLimits",
  "RecordingOptions",
  "AgentServerOptions",
  "Grant",
  "ServerLimits",
  "WorkerOptions",
  "ServeOptions",
  "ConnectOptions",
  "LocalPostStorageOptions",
  "McpToolsOptions",
  "McpConnectOptions",
  "McpServerOptions",
  "McpRouteOptions",
  "ListenOptions",
  "TelemetryOptions",
  "AttachOptions",
  "ReadOptions",
  "InspectorFileOptions",
  "SharedSessionOptions",
  "RestateOptions",
  "RestateLogOptions",
  "DbosHostOptions",
  "DbosLogOptions",
  "DbosPostOptions",
  "SessionObjectOptions",
  "PerformOptions",
];

describe("the reference of the configuration", () => {
  it("has a table for each type of options", () => {
    expect(optionTables.map(({ type }) => type)).toEqual(described);
  });

  it.each(optionTables)("lists the options of $type", ({ rows, fields }) => {
    const listed = rows.map(({ name }) => name);
    const own = fields.filter(({ name }) => listed.includes(name) || !common.includes(name));
    expect(listed.toSorted()).toEqual(own.map(({ name }) => name).toSorted());
  });

  it.each(optionTables)("gives a meaning to every option of $type", ({ rows }) => {
    for (const { name, meaning } of rows) expect(meaning, name).toMatch(/^[A-Z0-9`].*\.$/);
  });

  it.each(optionTables)("gives the defaults of $type", async ({ type, entry, rows, fields }) => {
    for (const row of rows) {
      const field = fields.find(({ name }) => name === row.name);
      if (!partial.includes(type))
        expect(row.byDefault === "required", row.name).toBe(field?.isOptional === false);
      const shown = codeIn(row.byDefault);
      const observed = await observedDefault(type, row.name);
      if (observed !== undefined) expect(shown, row.name).toBe(observed);
      if (observed !== undefined || shown === undefined) continue;
      const literals = declarations.literalDefaultsOf(entry, row.name).map(written);
      if (literals.length > 0) expect(literals, row.name).toContain(shown);
      else {
        expect(documents(field?.documentation ?? "", shown), `${row.name}: ${field?.documentation}`).toBe(
          true,
        );
      }
    }
  });
});

/** The types as text, with the members of unions in order. */
const normalized = (type: string): string =>
  type
    .replaceAll(/[;\s]+(?=\})/g, " ")
    .replaceAll(/(?<=[(<])\s+|,?\s+(?=[)>])/g, "")
    .split(" | ")
    .toSorted()
    .join(" | ");

/** The default that the running code is seen to have, as the page writes it; undefined where none is observed. */
async function observedDefault(type: string, name: string): Promise<string | undefined> {
  const observe = observedDefaults[type]?.[name];
  if (observe !== undefined) return written(await observe());
  if (type !== "AgentConfig") return undefined;
  const value = name
    .split(".")
    .reduce<unknown>((whole, key) => Reflect.get(Object(whole), key), defaultAgentConfig);
  return value === undefined ? undefined : written(value);
}

const written = (value: unknown): string =>
  typeof value === "number" ? value.toLocaleString("en-US") : JSON.stringify(value);

/** Whether a doc comment gives this default, where it is not observed: `Default: 5,000.` */
const documents = (documentation: string, shown: string): boolean =>
  ["Default: ", "Default ", "default "].some((word) =>
    documentation.replaceAll(/["`]/g, "").includes(`${word}${shown.replaceAll('"', "")}`),
  );

const unions: readonly (readonly [string, () => readonly string[]])[] = [
  ["AgentErrorKind", () => declarations.membersOf("@moora/agent", "AgentErrorKind")],
  ["SessionErrorCode", () => declarations.membersOf("@moora/agent", "SessionErrorCode")],
  ["LogErrorCode", () => declarations.membersOf("@moora/event-log", "LogErrorCode")],
  ["LlmFailureKind", () => declarations.membersOf("@moora/llm", "LlmFailureKind")],
  ["McpErrorCode", () => declarations.membersOf("@moora/mcp", "McpErrorCode")],
  ["ClientErrorCode", () => declarations.membersOf("@moora/client", "ClientErrorCode")],
  ["IgnoredReason", () => declarations.membersOf("@moora/agent", "IgnoredReason")],
  ["LogCode", () => declarations.membersOf("@moora/agent", "LogCode")],
  ["ErrorReportSource", () => declarations.membersOf("@moora/agent", "ErrorReportSource")],
  [
    "InputRefused",
    () => [
      ...new Set([
        ...declarations.fieldMembersOf("@moora/agent-core-state-machine", "InputProblem", "code"),
        ...declarations.fieldMembersOf("@moora/agent", "DecisionProblem", "code"),
        "not-allowed",
      ]),
    ],
  ],
];

describe("the reference of sessions", () => {
  it.each(["AgentBuilder", "AgentEngine"])("lists the members of %s, with their arguments", (type) => {
    const table = tablesOf("docs/configuration.md").find(({ subject }) => subject === `members of ${type}`);
    const listed = (table?.rows ?? []).flatMap(([names = ""]) => codesIn(names));
    expect(listed.toSorted()).toEqual(declarations.usesOf("moora", type).toSorted());
  });

  const firstCells = (subject: string): readonly string[] =>
    (tablesOf("docs/concepts.md").find((table) => table.subject === subject)?.rows ?? []).map(
      ([name = ""]) => codeIn(name) ?? name,
    );

  it("writes each member of a session as it is used: a property, a call, or a call that is awaited", () => {
    const formOf = ({ name, type }: DeclaredField): string => {
      if (!/^[(<]/.test(type)) return `session.${name}`;
      return `${/=> (Promise|AgentRun)<.*>$/.test(type) ? "await " : ""}session.${name}()`;
    };
    // What only types have is not shown.
    const members = declarations
      .fieldsOf("@moora/agent", "DurableSession")
      .filter(({ name }) => !name.startsWith("~"));
    const uses = firstCells("methods of DurableSession").map((use) => use.replace(/\(.*\)/, "()"));
    expect(uses.toSorted()).toEqual(members.map(formOf).toSorted());
  });

  it("lists the events", () => {
    const types = declarations.fieldMembersOf("@moora/agent", "AgentEvent", "type");
    expect(firstCells("events of AgentEvent").toSorted()).toEqual(types.toSorted());
  });
});

const valuePages = ["docs/tools.md", "docs/concepts.md"];

const valueTables = valuePages.flatMap(tablesOf).flatMap(({ subject, rows }) => {
  const [, type, entry] = /^fields of (\w+), (\S+)$/.exec(subject) ?? [];
  return type === undefined || entry === undefined ? [] : [{ type, entry, rows }];
});

describe("the reference of values", () => {
  it("has the tables of what a tool gets and returns, and of the result of a run", () => {
    const types = valueTables.map(({ type }) => type);
    expect(types).toEqual(["ToolContext", "ToolReply", "UsageReport", "RunResult"]);
  });

  it.each(valueTables)("lists the fields of $type, with their types", ({ type, entry, rows }) => {
    const listed = rows.map(([name = "", shown = ""]) => [codeIn(name), normalized(codeIn(shown) ?? "")]);
    const fields = declarations
      .fieldsOf(entry, type)
      .map((field) => [`${field.name}${field.isOptional ? "?" : ""}`, normalized(field.type)]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(fields));
  });

  it.each([["docs/durability.md", "@moora/agent", "KeptReason"]])(
    "lists in %s, of %s, the members of %s",
    (page, entry, type) => {
      const table = tablesOf(page).find(({ subject }) => subject === `members of ${type}`);
      const listed = (table?.rows ?? []).map(([name = ""]) => codeIn(name) ?? name);
      expect(listed.toSorted()).toEqual(declarations.membersOf(entry, type).toSorted());
    },
  );
});

describe("the reference of faults", () => {
  const rows = tablesOf("packages/agent-testing/README.md").find(
    ({ subject }) => subject === "families of faults",
  )?.rows;
  const families = [...new Set(faultNames.map((name) => name.split(":", 1)[0] ?? name))];
  it("lists each family, and no other", () => {
    const listed = (rows ?? []).flatMap(([family = ""]) => codesIn(family));
    expect(listed.toSorted()).toEqual(families.toSorted());
  });

  it("names faults that exist", () => {
    const named = (rows ?? [])
      .flatMap(([, meaning = ""]) => codesIn(meaning))
      .filter((name) => name.includes(":"));
    expect(faultNames).toEqual(expect.arrayContaining(named));
    expect(named).not.toEqual([]);
  });
});

describe("the reference of errors", () => {
  const tables = tablesOf("docs/errors.md");
  const firstCells = (subject: string): readonly string[] =>
    (tables.find((table) => table.subject === `members of ${subject}`)?.rows ?? []).map(
      ([name = ""]) => codeIn(name) ?? name,
    );

  it.each(unions)("lists the members of %s", (subject, members) => {
    expect(firstCells(subject).toSorted()).toEqual(members().toSorted());
  });

  it("gives the levels of log entries", () => {
    const rows = tables.find(({ subject }) => subject === "members of LogCode")?.rows ?? [];
    expect(Object.fromEntries(rows.map(([code = "", level = ""]) => [codeIn(code), codeIn(level)]))).toEqual(
      logLevels,
    );
  });

  it("lists the exported classes", async () => {
    const modules: readonly object[] = await Promise.all([
      import("@moora/agent"),
      import("@moora/agent-core-effects"),
      import("@moora/agent-core-state-machine"),
      import("@moora/agent-testing"),
      import("@moora/agent-testing/hosts"),
      import("@moora/client"),
      import("@moora/dbos"),
      import("@moora/cloudflare"),
      import("@moora/event-log"),
      import("@moora/event-log-postgres"),
      import("@moora/llm"),
      import("@moora/llm-ai-sdk"),
      import("@moora/llm-anthropic"),
      import("@moora/llm-openai"),
      import("@moora/mcp"),
      import("@moora/moorex"),
      import("@moora/otel"),
      import("@moora/planner"),
      import("@moora/react/ai-sdk"),
      import("@moora/restate"),
      import("@moora/tools"),
      import("moora"),
    ]);
    const classes = modules
      .flatMap((module): readonly unknown[] => Object.values(module))
      .filter((value) => typeof value === "function")
      .filter((value) => Object.prototype.isPrototypeOf.call(Error.prototype, value.prototype ?? {}))
      .map(({ name }) => name);
    expect(firstCells("exported classes").toSorted()).toEqual([...new Set(classes)].toSorted());
  });

  it("lists the codes of failed tool calls that the reducer gives", () => {
    const codes = declarations.membersOf("@moora/agent-core-state-machine", "FailureCode");
    expect(firstCells("codes of failed calls")).toEqual(expect.arrayContaining([...codes]));
  });
});
