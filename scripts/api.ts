/**
 * The public API of every package, name by name, as files in `api/` that are kept with the sources: a change of the API is
 * seen as a change of a file. Compares them with the built declarations; with `--update` it writes them. Also fails for an
 * export without a doc comment. Needs a build.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { manifestOf, packageNames, packs, root } from "./workspace.ts";

const updates = process.argv.includes("--update");
const reports = join(root, "api");
const temporary = join(packs, "api");

/** Packages that an application may depend on alone: they export every type of ours that their signatures use. */
const facades = ["agent", "moora"] as const;

const compilerOptions = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable", "dom"],
  module: "nodenext",
  types: ["node"],
  strict: true,
  skipLibCheck: true,
} as const;

/** The entries of a package: "index", and the others by their names. */
const entriesOf = (name: string): readonly string[] =>
  Object.keys(manifestOf(name).exports)
    .filter((path) => path !== "./package.json" && !path.endsWith(".css"))
    .map((path) => (path === "." ? "index" : path.slice(2)));

const reportOf = (name: string, entry: string): string =>
  `${[name, ...(entry === "index" ? [] : [entry])].join(".")}.api.md`;

/** Whether the report of an entry is as it was. */
function isKept(name: string, entry: string): boolean {
  const projectFolder = join(root, "packages", name);
  const declarations = join(projectFolder, "dist", `${entry}.d.ts`);
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(projectFolder, "package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder,
      mainEntryPointFilePath: declarations,
      compiler: { overrideTsconfig: { compilerOptions, files: [declarations] } },
      apiReport: {
        enabled: true,
        reportFolder: reports,
        reportTempFolder: temporary,
        reportFileName: reportOf(name, entry),
      },
      newlineKind: "lf",
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  });
  return Extractor.invoke(config, {
    localBuild: updates,
    messageCallback(message) {
      if (message.logLevel === ExtractorLogLevel.Info) message.handled = true;
    },
  }).succeeded;
}

/** The names that a report exports. */
function exportedBy(report: string): ReadonlySet<string> {
  const text = readFileSync(join(reports, report), "utf8");
  const declared = /^export (?:abstract )?(?:class|const|function|interface|type) (\w+)/gm;
  const names = [declared, /^export \{ (\w+) \}/gm].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = ""]) => name),
  );
  const others = text.includes('export * from "@moora/agent"') ? exportedBy("agent.api.md") : [];
  return new Set([...names, ...others]);
}

/** The names of our other packages that signatures use and that cannot be imported from this one. */
function unnameableIn(report: string): readonly string[] {
  const text = readFileSync(join(reports, report), "utf8");
  const used = [...text.matchAll(/^import \{ (\w+).* from '@moora\//gm)].map(([, name = ""]) => name);
  const exported = exportedBy(report);
  return used.filter((name) => !exported.has(name));
}

/** The exports of a report without a doc comment. Reads the report of the built declarations, not the kept one. */
function undocumentedIn(report: string): readonly string[] {
  const text = readFileSync(join(temporary, report), "utf8");
  const undocumented = /^\/\/ @public \(undocumented\)\nexport (?:abstract )?\w+ (\w+)/gm;
  return [...text.matchAll(undocumented)].map(([, name = ""]) => name);
}

mkdirSync(reports, { recursive: true });
const changed = packageNames.flatMap((name) =>
  entriesOf(name)
    .filter((entry) => !isKept(name, entry))
    .map((entry) => `${name}, ${entry}`),
);
if (changed.length > 0) {
  console.log(`The public API is not that of the reports: ${changed.join("; ")}.`);
  console.log("Look at the changes, then run: pnpm run api --update");
  process.exitCode = 1;
}
for (const facade of facades) {
  const missing = unnameableIn(reportOf(facade, "index"));
  if (missing.length === 0) continue;
  console.log(`The index of ${facade} has to export what its signatures use: ${missing.join(", ")}.`);
  process.exitCode = 1;
}
for (const name of packageNames) {
  for (const entry of entriesOf(name)) {
    const undocumented = undocumentedIn(reportOf(name, entry));
    if (undocumented.length === 0) continue;
    console.log(`Exports of ${name}, ${entry}, without a doc comment: ${undocumented.join(", ")}.`);
    process.exitCode = 1;
  }
}
