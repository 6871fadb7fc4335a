import type { SqlValue } from "./platform.ts";

/** The value of a column that always contains text. */
export const sqlText = (value: SqlValue | undefined): string => (typeof value === "string" ? value : "");
