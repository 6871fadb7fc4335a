import { join } from "node:path";
import ts from "typescript-5";
import { root } from "../../scripts/workspace.ts";

/** One field of a declared type. `documentation` is its doc comment as text. */
export interface DeclaredField {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly documentation: string;
}

/** The source file of each entry whose types the reference pages describe. */
const entryFiles: Readonly<Record<string, string>> = {
  "@moora/agent": "agent/src/index.ts",
  "@moora/agent-core-effects": "agent-core-effects/src/index.ts",
  "@moora/agent-core-state-machine": "agent-core-state-machine/src/index.ts",
  "@moora/agent-testing": "agent-testing/src/index.ts",
  "@moora/cloudflare": "cloudflare/src/index.ts",
  "@moora/dbos": "dbos/src/index.ts",
  "@moora/event-log": "event-log/src/index.ts",
  "@moora/event-log/indexeddb": "event-log/src/indexeddb.ts",
  "@moora/event-log/jsonl": "event-log/src/jsonl.ts",
  "@moora/event-log/sqlite": "event-log/src/sqlite.ts",
  "@moora/event-log-postgres": "event-log-postgres/src/index.ts",
  "@moora/llm": "llm/src/index.ts",
  "@moora/llm/adapter": "llm/src/adapter.ts",
  "@moora/llm-ai-sdk": "llm-ai-sdk/src/index.ts",
  "@moora/llm-anthropic": "llm-anthropic/src/index.ts",
  "@moora/llm-openai": "llm-openai/src/index.ts",
  "@moora/otel": "otel/src/index.ts",
  "@moora/react": "react/src/index.ts",
  "@moora/restate": "restate/src/index.ts",
  "@moora/client": "client/src/index.ts",
  "@moora/inspector": "inspector/src/index.ts",
  "@moora/mcp": "mcp/src/index.ts",
  "@moora/server": "server/src/index.ts",
  "@moora/server/node": "server/src/node.ts",
  moora: "moora/src/index.ts",
};

const fileOf = (entry: string): string =>
  join(root, "packages", entryFiles[entry] ?? `${entry} is not listed`);

/** The types that the packages export, as the compiler sees them. */
export class Declarations {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;

  constructor() {
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
    this.#program = ts.createProgram(Object.keys(entryFiles).map(fileOf), options);
    this.#checker = this.#program.getTypeChecker();
  }

  /** The fields of an exported object type. */
  fieldsOf(entry: string, name: string): readonly DeclaredField[] {
    return this.#typeOf(entry, name)
      .getProperties()
      .filter(isPublic)
      .map((symbol) => this.#fieldOf(symbol, symbol.name));
  }

  /** The same, with the fields of objects within it in place of the objects: `limits.maxSteps`. */
  flatFieldsOf(entry: string, name: string): readonly DeclaredField[] {
    return this.#flatFieldsIn(this.#typeOf(entry, name), "");
  }

  /** The members of an exported class as they are used: `cancel(reason?)`, `fallback(...callers)`; a property by its name. */
  usesOf(entry: string, name: string): readonly string[] {
    const members = this.#typeOf(entry, name).getProperties().filter(isPublic);
    return members.map((symbol) => {
      const [signature] = this.#checker.getTypeOfSymbol(symbol).getCallSignatures();
      return signature === undefined
        ? symbol.name
        : `${symbol.name}(${signature.getParameters().map(parameterToText).join(", ")})`;
    });
  }

  /** The members of an exported union of strings. */
  membersOf(entry: string, name: string): readonly string[] {
    return this.#literalsIn(this.#typeOf(entry, name));
  }

  /** The members of a field that is a union of strings. */
  fieldMembersOf(entry: string, name: string, field: string): readonly string[] {
    const type = this.#typeOf(entry, name);
    const symbol = type.getProperty(field);
    if (symbol === undefined) throw new Error(`${name} has no field ${field}.`);
    return this.#literalsIn(this.#checker.getTypeOfSymbol(symbol));
  }

  /**
   * The literals that code takes where an option of this name is left out: `const { name = 1 } = options`, or
   * `options.name ?? 1`. Those of the entry's own file, else of its package.
   */
  literalDefaultsOf(entry: string, name: string): readonly unknown[] {
    const own = this.#program.getSourceFile(fileOf(entry));
    const inOwn = own === undefined ? [] : literalDefaultsIn(own, name);
    if (inOwn.length > 0) return inOwn;
    const folder = `${join(root, "packages", (entryFiles[entry] ?? "").split("/", 1).join(""), "src")}/`;
    const files = this.#program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
    return files.flatMap((file) => literalDefaultsIn(file, name));
  }

  #typeOf(entry: string, name: string): ts.Type {
    const file = this.#program.getSourceFile(fileOf(entry));
    const module = file && this.#checker.getSymbolAtLocation(file);
    const found = module && this.#checker.getExportsOfModule(module).find((symbol) => symbol.name === name);
    if (found === undefined) throw new Error(`${entry} does not export ${name}.`);
    const symbol = found.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(found) : found;
    return this.#checker.getDeclaredTypeOfSymbol(symbol);
  }

  #literalsIn(type: ts.Type): readonly string[] {
    const members = type.isUnion() ? type.types : [type];
    return members.map((member) => {
      if (!member.isStringLiteral()) throw new Error("The type is not a union of strings.");
      return member.value;
    });
  }

  #flatFieldsIn(type: ts.Type, path: string): readonly DeclaredField[] {
    return type.getProperties().flatMap((symbol) => {
      const name = `${path}${symbol.name}`;
      const own = this.#ownTypeOf(symbol);
      return this.#isGroup(own) ? this.#flatFieldsIn(own, `${name}.`) : [this.#fieldOf(symbol, name)];
    });
  }

  #fieldOf(symbol: ts.Symbol, name: string): DeclaredField {
    const documentation = ts
      .displayPartsToString(symbol.getDocumentationComment(this.#checker))
      .replaceAll(/\s+/g, " ");
    return { name, type: this.#print(symbol), isOptional: isOptional(symbol), documentation };
  }

  #ownTypeOf(symbol: ts.Symbol): ts.Type {
    const type = this.#checker.getTypeOfSymbol(symbol);
    return isOptional(symbol) ? this.#checker.getNonNullableType(type) : type;
  }

  /** Whether a type is an object with fields: not a list, a dictionary or a function. */
  #isGroup(type: ts.Type): boolean {
    const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && !this.#checker.isArrayType(type);
    const isCallable = type.getCallSignatures().length > 0;
    return (
      isObject && !isCallable && type.getProperties().length > 0 && type.getStringIndexType() === undefined
    );
  }

  /** A union of strings by its members, any other type as it is written where that is known. */
  #print(symbol: ts.Symbol): string {
    const type = this.#ownTypeOf(symbol);
    const members = type.isUnion() ? type.types : [];
    if (members.length > 0 && members.every((member) => member.isStringLiteral()))
      return members.map((member) => this.#checker.typeToString(member)).join(" | ");
    const declaration = symbol.valueDeclaration;
    const written =
      declaration !== undefined && ts.isPropertySignature(declaration)
        ? (constraintOf(declaration) ?? declaration.type?.getText())
        : undefined;
    const text = written ?? this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
    return text.replaceAll("readonly ", "").replaceAll(/\s+/g, " ");
  }
}

/** What a caller may pass for a field whose type is a type parameter; undefined for any other field. */
function constraintOf({ parent, type }: ts.PropertySignature): string | undefined {
  const parameters = ts.isInterfaceDeclaration(parent) ? (parent.typeParameters ?? []) : [];
  const parameter = parameters.find(({ name }) => name.text === type?.getText());
  return parameter?.constraint?.getText().replace(" | undefined", "");
}

/** Not a private member, and not one whose key is a symbol. */
const isPublic = ({ name }: ts.Symbol): boolean => !name.startsWith("#") && !name.startsWith("__");

/** A parameter as a call shows it: `options?` may be left out, `...callers` takes any number. */
function parameterToText({ name, valueDeclaration }: ts.Symbol): string {
  if (valueDeclaration === undefined || !ts.isParameter(valueDeclaration)) return name;
  if (valueDeclaration.dotDotDotToken !== undefined) return `...${name}`;
  const mayBeMissing =
    valueDeclaration.questionToken !== undefined || valueDeclaration.initializer !== undefined;
  return mayBeMissing ? `${name}?` : name;
}

const isOptional = (symbol: ts.Symbol): boolean => (symbol.flags & ts.SymbolFlags.Optional) !== 0;

function literalDefaultsIn(file: ts.SourceFile, name: string): readonly unknown[] {
  const found: unknown[] = [];
  const visit = (node: ts.Node): void => {
    const literal = literalOf(defaultIn(node, name));
    if (literal !== undefined) found.push(literal);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The expression that a node gives for an option of this name where it is left out. */
function defaultIn(node: ts.Node, name: string): ts.Expression | undefined {
  if (ts.isBindingElement(node) && ts.isIdentifier(node.name))
    return (node.propertyName ?? node.name).getText() === name ? node.initializer : undefined;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken)
    return undefined;
  const last = ts.isBinaryExpression(node.left) ? node.left.right : node.left;
  return ts.isPropertyAccessExpression(last) && last.name.text === name ? node.right : undefined;
}

/** The value of a literal; undefined for another expression. */
function literalOf(expression: ts.Expression | undefined): unknown {
  if (expression === undefined) return undefined;
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (expression.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (ts.isNumericLiteral(expression)) return Number(expression.text.replaceAll("_", ""));
  return ts.isStringLiteral(expression) ? expression.text : undefined;
}
