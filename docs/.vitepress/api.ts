/** The API reference: for each entry of a package its exports, with their doc comments and declarations. */
import { join, relative } from "node:path";
import ts from "typescript-5";
import { manifestOf, packageNames, root } from "../../scripts/workspace.ts";
import type { SitePage } from "./pages.ts";

interface Entry {
  /** As it is imported: `@moora/llm/testing`. */
  readonly name: string;
  readonly address: string;
  readonly file: string;
}

const source = "@moora/source";

const entries: readonly Entry[] = packageNames.flatMap((folder) => {
  const { name, exports } = manifestOf(folder);
  return Object.entries(exports).flatMap(([path, target]): Entry[] => {
    const file = target instanceof Object && source in target ? String(target[source]) : undefined;
    if (file === undefined || path === "./internal") return [];
    const entry = path.slice(1);
    return [
      {
        name: name + entry,
        address: `api/${folder}${entry.replace("/", "-")}`,
        file: join(root, "packages", folder, file),
      },
    ];
  });
});

const packageOf = (file: string): string => relative(join(root, "packages"), file).split("/", 1).join("");

/** Makes the pages of all entries. */
export function apiPages(): readonly SitePage[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const emitted = { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true };
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    emitted,
  );
  const reference = new Reference(program);
  return entries.map((entry) => reference.pageOf(entry));
}

class Reference {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #declarations = new Map<ts.SourceFile, ts.SourceFile>();

  constructor(program: ts.Program) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
  }

  pageOf({ name, address, file }: Entry): SitePage {
    const symbols = this.#exportsOf(file);
    const own = symbols.filter((symbol) => packageOf(fileOf(symbol)) === packageOf(file));
    const foreign = Map.groupBy(
      symbols.filter((symbol) => !own.includes(symbol)),
      (symbol) => packageOf(fileOf(symbol)),
    );
    const lists = [...foreign].map(
      ([from, names]) =>
        `From [${manifestOf(from).name}](/api/${from}.md): ${names.map(({ name: one }) => `\`${one}\``).join(", ")}.`,
    );
    const text = [
      `# ${name}`,
      ...own.map((symbol) => this.#section(symbol)),
      ...(lists.length === 0 ? [] : ["## Also exported", ...lists]),
    ].join("\n\n");
    return { address, title: name, text: `${text}\n` };
  }

  /** What an entry exports, in order of name, each as it is declared. */
  #exportsOf(file: string): readonly ts.Symbol[] {
    const module = this.#program.getSourceFile(file);
    const symbol = module === undefined ? undefined : this.#checker.getSymbolAtLocation(module);
    if (symbol === undefined) throw new Error(`${file} exports nothing.`);
    return this.#checker
      .getExportsOfModule(symbol)
      .map((one) => (one.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(one) : one))
      .toSorted((one, other) => one.name.localeCompare(other.name, "en"));
  }

  #section(symbol: ts.Symbol): string {
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    const statements = this.#statementsOf(fileOf(symbol), symbol.name);
    return [`## ${symbol.name}`, plain(comment), `\`\`\`ts\n${statements.join("\n\n")}\n\`\`\``].join("\n\n");
  }

  /** The declarations of a name, without bodies and private members. */
  #statementsOf(file: string, name: string): readonly string[] {
    const declarations = this.#declarationsOf(file);
    return declarations.statements
      .filter((statement) => declares(statement, name))
      .map((statement) => {
        const text = statement
          .getText(declarations)
          .replace(/^export (?:default )?(?:declare )?/, "")
          .replaceAll(/^ *(?:#private|private [^\n]*);\n/gm, "")
          .replaceAll(/^(?: {4})+/gm, (blanks) => " ".repeat(blanks.length / 2));
        return isInferred(statement) && text.length > longest ? `${text.slice(0, longest / 2)} ...` : text;
      });
  }

  /** The declaration file of a source file. */
  #declarationsOf(file: string): ts.SourceFile {
    const module = this.#program.getSourceFile(file);
    if (module === undefined) throw new Error(`${file} is not a source file.`);
    const known = this.#declarations.get(module);
    if (known !== undefined) return known;
    let text = "";
    this.#program.emit(module, (_, written) => (text = written), undefined, true);
    const declarations = ts.createSourceFile(`${file}.d.ts`, text, ts.ScriptTarget.Latest, true);
    this.#declarations.set(module, declarations);
    return declarations;
  }
}

/** The characters of a type, inferred from a schema or a table, that are shown as a whole. */
const longest = 1_500;

const isInferred = (statement: ts.Statement): boolean =>
  ts.isVariableStatement(statement) ||
  ts.isTypeAliasDeclaration(statement) ||
  ts.isFunctionDeclaration(statement);

/** The source file of a declaration. */
const fileOf = (symbol: ts.Symbol): string => symbol.declarations?.[0]?.getSourceFile().fileName ?? "";

function declares(statement: ts.Statement, name: string): boolean {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.some((one) => one.name.getText() === name);
  return (
    "name" in statement &&
    statement.name instanceof Object &&
    "text" in statement.name &&
    statement.name.text === name
  );
}

/** A comment as Markdown: what could be read as a tag is text. */
const plain = (comment: string): string => comment.replaceAll(/<(?=[^`]*(?:`[^`]*`[^`]*)*$)/gm, "&lt;");
