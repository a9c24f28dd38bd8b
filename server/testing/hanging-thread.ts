import { parentPort } from 'node:worker_threads'

/** A worker thread that reports half its progress and never finishes. */
parentPort?.postMessage({ progress: 0.5 })
setInterval(() => {}, 1000)
