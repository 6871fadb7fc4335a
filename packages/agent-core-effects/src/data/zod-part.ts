import { isPromise } from "../is-promise.ts";
import type { StandardSchema } from "../tool/standard-schema.ts";
import type { SchemaChildren, SchemaPart } from "./schema-part.ts";

/** What schemas of zod 4 and of its mini say about themselves. */
interface ZodSchema extends StandardSchema {
  readonly _zod: {
    readonly def: ZodDefinition;
    /** All values of a schema that has few. */
    readonly values?: unknown;
  };
}

interface ZodDefinition {
  readonly type: string;
  /** Refinements, limits and conversions, which see the whole value. */
  readonly checks?: readonly ZodCheck[];
  readonly shape?: Readonly<Record<string, ZodSchema>>;
  readonly catchall?: ZodSchema;
  readonly element?: ZodSchema;
  readonly keyType?: ZodSchema;
  readonly valueType?: ZodSchema;
  readonly innerType?: ZodSchema;
  readonly getter?: () => ZodSchema;
}

interface ZodCheck {
  readonly _zod: {
    readonly def: { readonly check: string };
    readonly check: (payload: { readonly value: unknown; readonly issues: unknown[] }) => unknown;
  };
}

/** Whether a schema is one of zod 4, which its version 3 is not. */
export const isZodSchema = (schema: StandardSchema): schema is ZodSchema => "_zod" in schema;

/** The parts of a schema of zod. */
export function zodPart(schema: ZodSchema): SchemaPart {
  const children = childrenOf(schema);
  return {
    fits(value) {
      const result = schema["~standard"].validate(value);
      if (!isPromise(result)) return result.issues === undefined;
      result.catch(() => undefined);
      return false;
    },
    ...(children === undefined ? {} : { children }),
  };
}

/** Schemas that are those of the value that they contain, if it is an array or object. */
const wrappers: ReadonlySet<string> = new Set(["optional", "nullable", "readonly", "default", "prefault"]);

/** Checks that look at the length of an array only. */
const lengthChecks: ReadonlySet<string> = new Set(["max_length", "min_length", "length_equals"]);

const isLengthCheck = ({ _zod: { def } }: ZodCheck): boolean => lengthChecks.has(def.check);

function childrenOf({ _zod: { def } }: ZodSchema): SchemaChildren | undefined {
  const { type, checks = [], shape, element, keyType, valueType, innerType, getter } = def;
  if (type === "array" && element !== undefined && checks.every(isLengthCheck))
    return itemsOf(element, checks);
  if (checks.length > 0) return undefined;
  if (type === "object" && shape !== undefined) return fieldsOf(shape, def.catchall);
  if (type === "record" && keyType !== undefined && valueType !== undefined)
    return entriesOf(keyType, valueType);
  if (type === "lazy" && getter !== undefined) return lazyChildren(getter);
  return wrappers.has(type) && innerType !== undefined ? childrenOf(innerType) : undefined;
}

/** The children of a schema that may contain itself. */
function lazyChildren(getter: () => ZodSchema): SchemaChildren {
  const part = cached(() => zodPart(getter()));
  return {
    of: (key, container) => part().children?.of(key, container),
    fitsAfter: (op, key, container) => part().children?.fitsAfter(op, key, container) ?? false,
  };
}

function itemsOf(element: ZodSchema, checks: readonly ZodCheck[]): SchemaChildren {
  const item = cached(() => zodPart(element));
  return {
    of: item,
    fitsAfter: (_op, _key, container) =>
      checks.every(({ _zod: { check } }) => {
        const issues: unknown[] = [];
        check({ value: container, issues });
        return issues.length === 0;
      }),
  };
}

function fieldsOf(
  shape: Readonly<Record<string, ZodSchema>>,
  catchall: ZodSchema | undefined,
): SchemaChildren {
  const parts = new Map<string, SchemaPart>();
  const partOf = (key: string, schema: ZodSchema): SchemaPart => {
    const part = parts.get(key) ?? zodPart(schema);
    parts.set(key, part);
    return part;
  };
  const rest = catchall === undefined ? undefined : zodPart(catchall);
  return {
    of(key) {
      const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
      return schema === undefined ? (rest ?? "anything") : partOf(key, schema);
    },
    fitsAfter(op, key) {
      if (op === "add" || !Object.hasOwn(shape, key)) return true;
      return isOptional(shape[key]);
    },
  };
}

/** Whether a field may be left out. Undefined for a field that is not known. */
const isOptional = (schema: ZodSchema | undefined): boolean => {
  if (schema === undefined) return true;
  const {
    _zod: { def },
  } = schema;
  return def.type === "optional";
};

function entriesOf(keyType: ZodSchema, valueType: ZodSchema): SchemaChildren {
  const [key, value] = [cached(() => zodPart(keyType)), cached(() => zodPart(valueType))];
  const {
    _zod: { values },
  } = keyType;
  return {
    of: value,
    // A schema that lists its keys may require all of them.
    fitsAfter: (op, added) => values === undefined && (op === "remove" || key().fits(added)),
  };
}

/** A function that creates its result when it is called for the first time. */
function cached<Value>(create: () => Value): () => Value {
  let value: { readonly created: Value } | undefined;
  return () => (value ??= { created: create() }).created;
}
