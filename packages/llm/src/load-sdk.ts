/**
 * Loads the SDK of a provider. SDKs are optional peer dependencies, so that an application installs only those of the
 * providers that it uses. `load` imports the package; `provider` is the provider's name in messages. Rejects with an error
 * that names the package to install if it is missing, otherwise with the error of the import.
 */
export async function loadSdk<Sdk>(
  provider: string,
  packageName: string,
  load: () => Promise<Sdk>,
): Promise<Sdk> {
  try {
    return await load();
  } catch (error) {
    // Without a cause: the message of an outcome is that of the innermost error with a code.
    throw isMissing(error, packageName)
      ? new Error(`The ${provider} provider needs the package ${packageName}: npm install ${packageName}`)
      : error;
  }
}

/** Whether an import failed because this package was not found, and not one of its own dependencies. */
export const isMissing = (error: unknown, packageName: string): boolean =>
  error instanceof Error &&
  "code" in error &&
  error.code === "ERR_MODULE_NOT_FOUND" &&
  error.message.includes(`'${packageName}'`);
