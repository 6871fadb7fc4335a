/** An event of AG-UI 1.0. Fields without a value are left out: a null is invalid. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;
