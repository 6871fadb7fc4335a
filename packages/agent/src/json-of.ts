/** The type of a value that was written as JSON and read again. */
export type JsonOf<Value> = unknown extends Value
  ? unknown
  : Value extends { readonly toJSON: (key: string) => infer Data }
    ? DataOfJson<Data>
    : DataOfJson<Value>;

/** JSON leaves out undefined fields. An undefined item is refused as `not-json`. */
type DataOfJson<Value> = Value extends string | number | boolean | null
  ? Value
  : Value extends readonly unknown[]
    ? ItemsOf<Value>
    : Value extends object
      ? { readonly [Key in keyof Value as Exclude<Key, symbol>]: JsonOf<Value[Key]> }
      : undefined;

type ItemsOf<Values extends readonly unknown[]> = number extends Values["length"]
  ? readonly Exclude<JsonOf<Values[number]>, undefined>[]
  : { readonly [Index in keyof Values]: Exclude<JsonOf<Values[Index]>, undefined> };
