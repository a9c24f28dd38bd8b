import { parentPort } from 'node:worker_threads'

/** Stands in for a thread that is half done for ever. */
parentPort?.postMessage({ progress: 0.5 })
setInterval(() => {}, 1000)
