/** Runs the steps one after another. All steps run even when one fails; the first failure is thrown at the end. */
export async function runInOrder(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failed: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failed.push(error))
  if (failed.length > 0) throw failed[0]
}
