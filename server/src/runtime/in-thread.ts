import { Worker } from 'node:worker_threads'

/** A message of a thread: progress, or the result at the end. */
export type ThreadMessage<Result> = { readonly progress: number } | { readonly result: Result }

/** How a thread is limited, and what its errors call the work, such as "The backtest". */
export interface ThreadOptions {
  readonly work: string
  readonly durationMaxMs: number
  readonly heapMaxMb: number
  /** The heap for new objects. Without it, V8 takes more than `heapMaxMb`, and ends the process when that is full. */
  readonly youngMaxMb?: number
  readonly onProgress?: (share: number) => void
  readonly signal?: AbortSignal
}

/**
 * Runs a file in a thread of its own, so that requests are not delayed. The thread reads `workerData` and posts `ThreadMessage`s.
 *
 * @throws Error if the thread fails, runs out of memory, takes too long, or is stopped by `signal`
 * @example await inThread<number>(new URL('./sum-worker.ts', import.meta.url), [1, 2], { work: 'The sum', ...limits })
 */
export function inThread<Result>(
  file: URL,
  data: unknown,
  { work, durationMaxMs, heapMaxMb, youngMaxMb, onProgress, signal }: ThreadOptions,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const thread = new Worker(file, {
    workerData: data,
    // The thread gets no environment variables, because they contain the secret keys of the installation.
    env: {},
    execArgv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: heapMaxMb,
      ...(youngMaxMb === undefined ? {} : { maxYoungGenerationSizeMb: youngMaxMb }),
    },
  })
  const stop = (why: string) => {
    reject(new Error(`${work} ${why}.`))
    void thread.terminate()
  }
  const timer = setTimeout(() => stop(`took more than ${durationMaxMs / 60_000} minutes`), durationMaxMs)
  const abort = () => stop('was stopped')
  if (signal?.aborted === true) abort()
  signal?.addEventListener('abort', abort, { once: true })
  thread.on('message', (message: ThreadMessage<Result>) => {
    if ('result' in message) resolve(message.result)
    else onProgress?.(message.progress)
  })
  thread.on('error', reject)
  thread.on('exit', (code) => reject(new Error(`${work} ended without a result (${code}).`)))
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
}
