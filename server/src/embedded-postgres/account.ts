import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/** The user and group that PostgreSQL runs as; null to run as the user of this process. */
export type Account = { readonly uid: number; readonly gid: number } | null

/**
 * Chooses the account for PostgreSQL, which refuses to run as root. As root, its processes get another user and group, and
 * no supplementary groups (Node drops them when it changes the user). The service creates no user, and `initdb` requires a
 * user with a name. An existing cluster runs as its owner. A new one runs as the user `lanewise` if it exists
 * (deploy/systemd/lanewise.sysusers creates it), else as `nobody`, which every system has.
 *
 * `ownedFolder` is the cluster's folder, which need not exist. For a normal user, the result is always null.
 */
export function postgresAccount(ownedFolder: string): Account {
  if (process.getuid?.() !== 0) return null
  const owner = statSync(ownedFolder, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const account = accountNamed(ownName) ?? accountNamed(sharedName)
  if (account === null) {
    throw new Error(
      `PostgreSQL cannot run as root, and this system has neither a user "${ownName}" nor "${sharedName}" for it. ` +
        'Run the service as a normal user, or set DATABASE_URL.',
    )
  }
  return account
}

/** A warning for the operator if other programs may run under the account, too; null if there is none. */
export function accountWarning(account: Account, list = userList): string | null {
  const shared = accountNamed(sharedName, list)
  if (account === null || account.uid !== shared?.uid) return null
  return (
    `The database runs under the account "${sharedName}", because this process is root: every other program under that account ` +
    `can read it. Run the service as a normal user, or make a user "${ownName}" before the first start.`
  )
}

/** Spawn options that run a child process as the account, in a folder that all users can enter. */
export function asAccount(account: Account): { cwd: string; uid?: number; gid?: number } {
  return account === null ? { cwd: '/' } : { cwd: '/', uid: account.uid, gid: account.gid }
}

/** Makes the account the owner of a file or folder. */
export function giveTo(account: Account, path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

/** Whether the account can enter a folder. Tests it with a child process, because file modes are not the only rules. */
export function canEnter(account: Account, folder: string): boolean {
  if (account === null) return true
  const tried = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], {
    ...asAccount(account),
    stdio: 'ignore',
  })
  if (tried.error !== undefined) {
    throw new Error(
      `PostgreSQL cannot run as root, and starting it as another user (${account.uid}) is refused here ` +
        `(${tried.error.message}). Run the service as a normal user, or set DATABASE_URL.`,
    )
  }
  return tried.status === 0
}

const ownName = 'lanewise'
const sharedName = 'nobody'
const userList = '/etc/passwd'

/** The user and group of a user name; null if it does not exist or is root. */
export function accountNamed(name: string, list = userList): { uid: number; gid: number } | null {
  const line = readFileSync(list, 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return Number(uid) && Number(gid) ? { uid: Number(uid), gid: Number(gid) } : null
}
