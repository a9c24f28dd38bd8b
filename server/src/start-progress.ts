/** Tells the operator what the start is doing. */
export interface Progress {
  /** Prints a line. */
  say(line: string): void
  /** Names the current step, which is printed if it takes long. */
  step(name: string): void
  stop(): void
}

const everyMs = 10_000

/**
 * Prints the current step whenever nothing was printed for ten seconds, so that a slow start does not look like a stopped one.
 *
 * @param monotonic a clock in milliseconds
 */
export function startProgress(say: (line: string) => void, monotonic: () => number): Progress {
  const began = monotonic()
  let current = 'starting'
  let saidAt = began
  const print = (line: string) => {
    saidAt = monotonic()
    say(line)
  }
  const timer = setInterval(() => {
    if (monotonic() - saidAt < everyMs) return
    print(`... still ${current}, ${Math.round((monotonic() - began) / 1_000)} s`)
  }, 1_000)
  timer.unref()
  return {
    say: print,
    step: (name) => {
      current = name
    },
    stop: () => clearInterval(timer),
  }
}
