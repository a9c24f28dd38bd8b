import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ScalePlan } from './plan.ts'

/** The credentials of one generated tenant, saved outside the database in a file that only its owner can read. */
export interface TenantAccess {
  readonly tenantId: number
  readonly token: string
  readonly secret: string
}

/** The credentials of a set of scale data, with the plan they belong to. */
export interface ScaleAccess {
  readonly plan: ScalePlan
  /** In the order of the plan's tenants. */
  readonly tenants: readonly TenantAccess[]
}

/** Reads an access file. Returns null if it does not exist. @throws Error if it has another format */
export function readAccess(path: string): ScaleAccess | null {
  if (!existsSync(path)) return null
  const read = JSON.parse(readFileSync(path, 'utf8')) as Partial<ScaleAccess>
  if (read.plan === undefined || read.tenants === undefined)
    throw new Error(`${path} does not contain credentials of generated data.`)
  return { plan: read.plan, tenants: read.tenants }
}

/** Writes an access file atomically, readable only by its owner. */
export function writeAccess(path: string, access: ScaleAccess): void {
  const unfinished = `${path}.unfinished`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(access)}\n`, { mode: 0o600, flush: true, flag: 'wx' })
  renameSync(unfinished, path)
}

/** Whether two plans describe the same data, regardless of their start day. */
export function isSamePlan(one: ScalePlan, other: ScalePlan): boolean {
  const identity = ({ until: _, ...plan }: ScalePlan) => JSON.stringify(Object.entries(plan).toSorted())
  return identity(one) === identity(other)
}
