/** Why a page is not fetched, or not shown. The message is for the model. */
export class FetchRefused extends Error {
  override readonly name = "FetchRefused";
}
