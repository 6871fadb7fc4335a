/** The built parts of the page, with the hashes by which its policy allows them. */
export interface PageParts {
  readonly script: string;
  readonly worker: string;
  readonly style: string;
  readonly scriptHash: string;
  readonly styleHash: string;
}
