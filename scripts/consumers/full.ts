/** A project that depends on every package, with the SDKs: loading `moora` loads none of them, nor Node's HTTP client. */
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { statSync } from "node:fs";

/** The most that `import "moora"` may load. */
const mostModules = 50;
const mostKb = 900;

const files: string[] = [];
const builtins = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("node:")) builtins.add(url);
    else files.push(url);
    return nextLoad(url, context);
  },
});

await import("moora");

const names = files.map((url) => url.slice(url.lastIndexOf("/node_modules/") + "/node_modules/".length));
for (const lazy of ["openai/", "@anthropic-ai/", "pg/", "htmlparser2/", "zod/"])
  assert.deepEqual(
    names.filter((name) => name.startsWith(lazy)),
    [],
    `import "moora" loads ${lazy}`,
  );
for (const lazy of ["node:http", "node:https", "node:sqlite"])
  assert.ok(!builtins.has(lazy), `import "moora" loads ${lazy}`);

const kb = files.reduce((sum, url) => sum + statSync(new URL(url)).size, 0) / 1_000;
console.log(`import "moora" loads ${files.length} modules, ${kb.toFixed(0)} KB`);
assert.ok(
  files.length <= mostModules,
  `import "moora" loads ${files.length} modules, not ${mostModules} at most`,
);
assert.ok(kb <= mostKb, `import "moora" loads ${kb.toFixed(0)} KB, not ${mostKb} at most`);
