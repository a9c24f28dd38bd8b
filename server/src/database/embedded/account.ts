import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'

/** The user and group that PostgreSQL runs as; null means: as this process itself. */
export type Account = { readonly uid: number; readonly gid: number } | null

/**
 * PostgreSQL refuses to run as root. So as root its processes get another user and group, without any other group
 * (Node drops them when it changes the user). No user is made for it: a cluster that exists runs as its owner, and a
 * new one as `nobody`, which every system has (`initdb` asks for a name in the list of users).
 *
 * `ownedFolder` is the cluster's folder, there or not. As a normal user the answer is always null.
 */
export function postgresAccount(ownedFolder: string): Account {
  if (process.getuid?.() !== 0) return null
  const owner = statSync(ownedFolder, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  return nobody()
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

function nobody(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!Number(uid) || !Number(gid)) {
    throw new Error(
      'PostgreSQL cannot run as root, and this system has no user "nobody" for it. ' +
        'Run the service as a normal user, or set DATABASE_URL.',
    )
  }
  return { uid: Number(uid), gid: Number(gid) }
}
