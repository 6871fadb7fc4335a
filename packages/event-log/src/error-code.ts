/** The `code` of an error of the operating system or of a library; undefined for any other value. */
export const errorCode = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
