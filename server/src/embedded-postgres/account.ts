import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/** The user and group that PostgreSQL runs as; null means: as this process itself. */
export type Account = { readonly uid: number; readonly gid: number } | null

/**
 * PostgreSQL refuses to run as root. So as root its processes get another user and group, without any other group
 * (Node drops them when it changes the user). No user is made for it, and `initdb` refuses a number without a name in the
 * list of users. A cluster that exists runs as its owner; a new one as the user `lanewise`, where there is one
 * (deploy/systemd/lanewise.sysusers makes it), or else as `nobody`, which every system has.
 *
 * `ownedFolder` is the cluster's folder, there or not. As a normal user the answer is always null.
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

/** What an operator should know of the account, where other programs may run under it, too; null where there is nothing. */
export function accountWarning(account: Account, list = userList): string | null {
  const shared = accountNamed(sharedName, list)
  if (account === null || account.uid !== shared?.uid) return null
  return (
    `The database runs under the account "${sharedName}", because this process is root: every other program under that account ` +
    `can read it. Run the service as a normal user, or make a user "${ownName}" before the first start.`
  )
}

/** Spawn options that make a child run as the account, in a folder that everybody can enter. */
export function asAccount(account: Account): { cwd: string; uid?: number; gid?: number } {
  return account === null ? { cwd: '/' } : { cwd: '/', uid: account.uid, gid: account.gid }
}

/** Gives a file or folder of ours to the account. */
export function giveTo(account: Account, path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

/** Whether the account can enter a folder: tried, not worked out, because modes are not the only rules there are. */
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

/** The user and group of a name in the list of users; null where it is not there, or is root. */
export function accountNamed(name: string, list = userList): { uid: number; gid: number } | null {
  const line = readFileSync(list, 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return Number(uid) && Number(gid) ? { uid: Number(uid), gid: Number(gid) } : null
}
