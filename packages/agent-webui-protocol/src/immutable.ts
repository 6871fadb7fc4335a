/** A value that JSON keeps as it is. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** `T` with everything in it read-only, all the way down. Whole JSON values are so already. */
export type Immutable<T> = [Json] extends [T]
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : { readonly [Key in keyof T]: Immutable<T[Key]> };
