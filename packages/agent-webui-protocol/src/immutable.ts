/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** `T` with all properties read-only, at every depth. A type that includes every JSON value is returned unchanged. */
export type Immutable<T> = [Json] extends [T]
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : { readonly [Key in keyof T]: Immutable<T[Key]> };
