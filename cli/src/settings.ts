import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandFailed } from './exits.ts'
import type { Surroundings } from './surroundings.ts'

/** What the file of settings holds. Whoever can read it can act as its owner, so nobody else may. */
export interface Settings {
  readonly url?: string
  /** A service token. */
  readonly token?: string
  /** A signing secret. */
  readonly secret?: string
  /** A sign-in, which lasts for hours. */
  readonly session?: { readonly token: string; readonly expires_at: string; readonly email: string }
}

export function settingsPath({ env, home }: Pick<Surroundings, 'env' | 'home'>): string {
  return env.LANEWISE_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'lanewise', 'config.json')
}

/** @throws CommandFailed for a file that others can read, or that is not one of ours */
export function readSettings(where: Pick<Surroundings, 'env' | 'home'>): Settings {
  const path = settingsPath(where)
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return {}
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new CommandFailed(
      3,
      `${path} holds credentials and others can read it. Change that: chmod 600 '${path}'`,
    )
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Settings
  } catch {
    throw new CommandFailed(
      3,
      `${path} is not the file of settings it should be. Move it away and sign in again.`,
    )
  }
}

/** Changes some settings; what is undefined is forgotten. The file is replaced whole, readable by its owner alone. */
export function changeSettings(
  where: Pick<Surroundings, 'env' | 'home'>,
  changes: { readonly [Name in keyof Settings]: Settings[Name] | undefined },
): string {
  const path = settingsPath(where)
  const settings = { ...readSettings(where), ...changes }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const making = `${path}.${process.pid}`
  writeFileSync(making, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
  chmodSync(making, 0o600)
  renameSync(making, path)
  return path
}
