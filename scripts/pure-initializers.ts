import type { Rolldown } from "tsdown";

/** A node of a syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** What a bundler keeps, because it may run code: calls, and reads that may be getters. */
const mayRunCode: ReadonlySet<string> = new Set([
  "CallExpression",
  "MemberExpression",
  "NewExpression",
  "SpreadElement",
  "TaggedTemplateExpression",
]);

/** Code that does not run when the expression around it does. */
const isDeferred: ReadonlySet<string> = new Set(["ArrowFunctionExpression", "FunctionExpression"]);

/**
 * A plugin that marks the initializers of top-level variables as pure, so that bundlers drop the variables that are not
 * used: `const a = z.string()` becomes `const a = /* @__PURE__ *\/ (() => z.string())()`. A class without a name gets that
 * of its variable, which it would lose by that. This is correct for packages whose modules have no side effects
 * (`"sideEffects": false`), and for no others.
 */
export const pureInitializers = (): Rolldown.Plugin => ({
  name: "moora:pure-initializers",
  renderChunk(code, { fileName }, _options, { magicString }) {
    if (!fileName.endsWith(".js")) return null;
    if (magicString === undefined) throw new Error("Set experimental.nativeMagicString in the build.");
    for (const { name, init } of this.parse(code).body.flatMap(initializersOf)) {
      magicString.appendRight(init.start, "/* @__PURE__ */ (() => (");
      if (isUnnamedClass(init)) magicString.appendLeft(init.start + "class".length, ` ${name}`);
      magicString.appendLeft(init.end, "))()");
    }
    return { code: magicString };
  },
});

interface Initializer {
  /** The variable; empty where a pattern takes the value apart. */
  readonly name: string;
  readonly init: Node;
}

function initializersOf(statement: Node): readonly Initializer[] {
  if (statement.type !== "VariableDeclaration") return [];
  return childrenOf(statement).flatMap((declarator) =>
    "init" in declarator && isNode(declarator.init) && runsCode(declarator.init)
      ? [{ name: nameOf(declarator), init: declarator.init }]
      : [],
  );
}

const nameOf = (declarator: Node): string =>
  "id" in declarator && isNode(declarator.id) && "name" in declarator.id ? String(declarator.id.name) : "";

const isUnnamedClass = (node: Node): boolean =>
  node.type === "ClassExpression" && "id" in node && node.id === null;

const runsCode = (node: Node): boolean =>
  mayRunCode.has(node.type) || (!isDeferred.has(node.type) && childrenOf(node).some(runsCode));

const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node)
    .flatMap((value: unknown) => value)
    .filter(isNode);

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
