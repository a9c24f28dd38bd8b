import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{contract,engine,geography,server,checks}/**/*.test.ts'],
    // One embedded PostgreSQL serves the whole run; each file clones its own database from a migrated template.
    globalSetup: ['server/testing/database-cluster.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores are the smallest machine this must pass on: more workers than that only add noise.
    maxWorkers: 2,
    reporters: ['verbose'],
  },
})
