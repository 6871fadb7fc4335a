/** What a person is asked about a call whose outcome is unknown. */
export const outcomeQuestion =
  "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";
