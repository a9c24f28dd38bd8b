// Asks the service in this container for a page of its own, such as /healthz or /readyz: ends with 0 when it says yes.
const timeoutMs = 4_000
const address = `http://127.0.0.1:${process.env.PORT ?? 8080}${process.argv[2] ?? '/healthz'}`
try {
  const { ok } = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) })
  process.exitCode = ok ? 0 : 1
} catch {
  process.exitCode = 1
}
