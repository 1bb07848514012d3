/** Runs one statement beside the projection, on a connection of the test's own. */
export type RunSql = (
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>
