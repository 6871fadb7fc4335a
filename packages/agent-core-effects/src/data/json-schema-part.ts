import { Validator } from "@cfworker/json-schema";
import type { JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import type { SchemaChildren, SchemaPart } from "./schema-part.ts";

/** Keywords that say nothing about a value. */
const annotations = ["$schema", "$comment", "title", "description", "default", "examples", "deprecated"];

/** The keywords of a schema whose parts are checked on their own. */
const keywords: ReadonlySet<string> = new Set([
  ...annotations,
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minItems",
  "maxItems",
]);

/** Names by which a schema refers to another part of its document. */
const references = /"\$(?:ref|dynamicRef|recursiveRef|id|anchor|dynamicAnchor|defs)"|"definitions"/;

/** The parts of a JSON Schema. Undefined for one with references: its parts have no meaning outside it. */
export const jsonSchemaPart = (schema: JsonObject): SchemaPart | undefined =>
  references.test(JSON.stringify(schema)) ? undefined : partOf(schema);

function partOf(schema: JsonObject): SchemaPart {
  let validator: Validator | undefined;
  const children = childrenOf(schema);
  return {
    fits(value) {
      validator ??= new Validator(structuredClone(schema), "2020-12", true);
      return validator.validate(value).valid;
    },
    ...(children === undefined ? {} : { children }),
  };
}

function childrenOf(schema: JsonObject): SchemaChildren | undefined {
  if (!Object.keys(schema).every((keyword) => keywords.has(keyword))) return undefined;
  const { properties, additionalProperties, items, required, minItems, maxItems } = schema;
  const parts = new Map<unknown, SchemaPart>();
  const known = (child: unknown): SchemaPart | "anything" | undefined => {
    if (child === undefined || child === true) return "anything";
    if (!isJsonObject(child)) return undefined;
    const part = parts.get(child) ?? partOf(child);
    parts.set(child, part);
    return part;
  };
  return {
    of(key, container) {
      if (Array.isArray(container)) return known(items);
      if (isJsonObject(properties) && Object.hasOwn(properties, key)) return known(properties[key]);
      return known(additionalProperties);
    },
    fitsAfter(op, key, container) {
      if (!Array.isArray(container))
        return op === "add" || !(Array.isArray(required) && required.includes(key));
      const { length } = container;
      return (
        !(typeof minItems === "number" && length < minItems) &&
        !(typeof maxItems === "number" && length > maxItems)
      );
    },
  };
}
