// Requests a path such as /healthz or /readyz from the service in this container. The exit code is 0 if the status is 2xx.
const timeoutMs = 4_000
const address = `http://127.0.0.1:${process.env.PORT ?? 8080}${process.argv[2] ?? '/healthz'}`
try {
  const { ok } = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) })
  process.exitCode = ok ? 0 : 1
} catch {
  process.exitCode = 1
}
