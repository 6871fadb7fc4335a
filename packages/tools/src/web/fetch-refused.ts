/** Why a page is not fetched, or not returned. The message is for the model. */
export class FetchRefused extends Error {
  override readonly name = "FetchRefused";
}
