import type { Mark } from "../session/marks.ts";
import { notify } from "./copy.tsx";
import { goToMark } from "./store.ts";

/** Goes to the next record with a mark, or to the one before. Reports it if there is none. */
export function jump(mark: Mark, direction: 1 | -1): void {
  if (!goToMark(mark, direction)) notify(`There is no ${direction === 1 ? "later" : "earlier"} ${mark}.`);
}
