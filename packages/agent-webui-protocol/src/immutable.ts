/** `T` with everything in it read-only, all the way down. */
export type Immutable<T> = T extends string | number | boolean | null | undefined
  ? T
  : { readonly [Key in keyof T]: Immutable<T[Key]> };
