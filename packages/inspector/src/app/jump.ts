import type { Mark } from "../session/marks.ts";
import { notify } from "./copy.tsx";
import { goToMark } from "./store.ts";

/** Goes to the next record with a mark, or to the one before, around the end. Reports it if there is none. */
export function jump(mark: Mark, direction: 1 | -1): void {
  if (!goToMark(mark, direction)) notify(`There is no ${mark} in this session.`);
}
