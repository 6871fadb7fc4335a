import { buildPage } from "../build-page.ts";
import type { PageParts } from "./page-parts.ts";

/** The parts of the page. From source they are built at the first use; the package contains them instead of this module. */
export const builtPage: () => Promise<PageParts> = buildPage;
