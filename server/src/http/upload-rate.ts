import { uploadBytesPerSecondMin, uploadGraceSeconds } from '#contract/limits.ts'

/**
 * Calls `onSlow` when an upload has brought fewer bytes than its rate. A second counts when the process had time to read what had
 * arrived in it, so an upload is not slow because the process was busy. Returns the function that ends the watch.
 */
export function watchRate(received: () => number, onSlow: () => void): () => void {
  let seconds = 0
  let isOver = false
  const timer = setInterval(() => {
    // Bytes that have arrived are read between the timers and this call.
    setImmediate(() => {
      seconds++
      if (!isOver && received() < uploadBytesPerSecondMin * (seconds - uploadGraceSeconds)) onSlow()
    })
  }, 1_000)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}
