import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inBrokerage } from './brokerages.ts'
import { CommandFailed } from './exits.ts'
import type { Brokerage, Settings } from './saved-settings.ts'
import type { Surroundings } from './surroundings.ts'

export type { Settings }

export function settingsPath({ env, home }: Pick<Surroundings, 'env' | 'home'>): string {
  return env.LANEWISE_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'lanewise', 'config.json')
}

/** @throws CommandFailed if other users can read the file, or if it is not a valid settings file */
export function readSettings(where: Pick<Surroundings, 'env' | 'home'>): Settings {
  const path = settingsPath(where)
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return {}
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new CommandFailed(
      3,
      `${path} contains credentials and other users can read it. Run: chmod 600 '${path}'`,
    )
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Settings
  } catch {
    throw new CommandFailed(3, `${path} is not a valid settings file. Move it away and sign in again.`)
  }
}

/** Changes settings; undefined removes a setting. The file is replaced atomically and is readable only by its owner. */
export function changeSettings(
  where: Pick<Surroundings, 'env' | 'home'>,
  changes: { readonly [Name in keyof Settings]: Settings[Name] | undefined },
): string {
  return writeSettings(where, { ...readSettings(where), ...changes })
}

/** Saves credentials of a brokerage. Those of the brokerage before it are put aside (see `inBrokerage`). */
export function saveCredentials(
  where: Pick<Surroundings, 'env' | 'home'>,
  url: string,
  brokerage: Brokerage,
  credentials: Pick<Settings, 'session' | 'token' | 'secret'>,
): string {
  const before = readSettings(where)
  return writeSettings(where, { ...inBrokerage(before, url, brokerage), ...credentials })
}

function writeSettings(where: Pick<Surroundings, 'env' | 'home'>, settings: object): string {
  const path = settingsPath(where)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const newFile = `${path}.${process.pid}`
  writeFileSync(newFile, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
  chmodSync(newFile, 0o600)
  renameSync(newFile, path)
  return path
}
