import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ScalePlan } from './plan.ts'

/** What a client of one generated tenant holds: kept outside the database, in a file that only its owner reads. */
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

/** Null when there is no such file. @throws Error when it is none of ours. */
export function readAccess(path: string): ScaleAccess | null {
  if (!existsSync(path)) return null
  const read = JSON.parse(readFileSync(path, 'utf8')) as Partial<ScaleAccess>
  if (read.plan === undefined || read.tenants === undefined)
    throw new Error(`${path} does not hold the credentials of scale data.`)
  return { plan: read.plan, tenants: read.tenants }
}

/** Whole and on disk before it has its name, and readable by its owner only. */
export function writeAccess(path: string, access: ScaleAccess): void {
  const unfinished = `${path}.unfinished`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(access)}\n`, { mode: 0o600, flush: true, flag: 'wx' })
  renameSync(unfinished, path)
}

/** Whether two plans are of the same data, whenever each was begun. */
export function isSamePlan(one: ScalePlan, other: ScalePlan): boolean {
  const said = ({ until: _, ...plan }: ScalePlan) => JSON.stringify(Object.entries(plan).toSorted())
  return said(one) === said(other)
}
