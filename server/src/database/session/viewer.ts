import { AsyncLocalStorage } from 'node:async_hooks'

/** A person whose teams decide which customers they see: a member or a viewer, not an admin. */
export interface TeamViewer {
  readonly userId: number
}

/** Undefined or null: nothing is hidden, as for admins, service tokens, and the service itself. */
const current = new AsyncLocalStorage<TeamViewer | null>()

/** Runs work for a person: its transactions show only the quotes of the customers that the person may see. */
export function withViewer<T>(viewer: TeamViewer | null, work: () => T): T {
  return viewer === currentViewer() ? work() : current.run(viewer, work)
}

/** Runs work that must see every customer although a person waits for it, because its result is cached for the brokerage. */
export function forBrokerage<T>(work: () => Promise<T>): Promise<T> {
  return current.run(null, work)
}

/** The person whose transactions are restricted now; null if nothing is hidden. */
export function currentViewer(): TeamViewer | null {
  return current.getStore() ?? null
}

/** A generator whose every step runs for the current person, whoever asks for the step. */
export function asCurrentViewer<T>(steps: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  // Reads the person here, because a generator begins only with its first step.
  return stepsFor(currentViewer(), steps)
}

async function* stepsFor<T>(
  viewer: TeamViewer | null,
  steps: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  try {
    for (;;) {
      const { value, done } = await withViewer(viewer, () => steps.next())
      if (done === true) return
      yield value
    }
  } finally {
    await withViewer(viewer, () => steps.return())
  }
}
