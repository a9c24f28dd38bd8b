import { passwordHashWork } from '#server/security/index.ts'

// Vitest's setup file of tests with a service: a password hash takes 30 ms, and most tests make some.
Object.assign(passwordHashWork, { memoryCost: 8, timeCost: 1 })
