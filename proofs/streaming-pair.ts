import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type DatabaseRole,
  giveTo,
  makeDatabase,
  makeRoles,
  roleNames,
} from '#server/embedded-postgres/index.ts'
import { type DrillCluster, drillCluster, drillPrograms, withClient } from './drill-server.ts'
import type { ProofDatabase } from './proof-database.ts'

const database = 'lanewise'
const standbyName = 'standby'

/** A primary, and a standby that follows it by streaming replication. The roles of the two change with each failover. */
export interface StreamingPair extends Pick<ProofDatabase, 'ask'> {
  /** One URL with both hosts. */
  url(role: DatabaseRole): string
  /** The URL of one server alone. */
  urlOf(which: 'primary' | 'standby', role: DatabaseRole): string
  /** Commits of the primary then wait until the standby has them. */
  waitForStandby(): Promise<void>
  /** The standby receives nothing more, and no commit waits for it: what is acknowledged from now on is lost with the primary. */
  cutOff(): Promise<void>
  promoteStandby(): Promise<void>
  /** Ends the primary without cleanup, like the loss of its machine. */
  losePrimary(): Promise<void>
  /** After both: the standby is the primary now, and the lost server comes back as its standby, as an empty machine. */
  rebuild(): Promise<void>
  remove(): Promise<void>
}

/** Starts the pair with an empty database, its roles, and synchronous replication off. */
export async function streamingPair(): Promise<StreamingPair> {
  const programs = drillPrograms(null, { durable: true })
  const clusters: DrillCluster[] = []
  const newCluster = () => {
    const cluster = drillCluster()
    clusters.push(cluster)
    return cluster
  }
  // The log that a standby still needs is kept.
  const settings = { wal_keep_size: '1GB' }
  let primaryCluster = newCluster()
  programs.init(primaryCluster)
  let primary = await programs.start(primaryCluster, settings)
  const startStandby = async (cluster: DrillCluster) => {
    rmSync(cluster.place.cluster, { recursive: true, force: true })
    await programs.baseBackup(primary, primaryCluster, cluster)
    const { place } = cluster
    appendFileSync(
      join(place.cluster, 'postgresql.auto.conf'),
      `\nprimary_conninfo = 'host=${primary.socket} port=5432 user=postgres application_name=${standbyName}'\n`,
    )
    const signal = join(place.cluster, 'standby.signal')
    writeFileSync(signal, '', { mode: 0o600 })
    giveTo(place.account, signal)
    return programs.start(cluster, settings, 'standby')
  }
  await withClient(primary, 'postgres', async (client) => {
    await makeRoles(client, { owner: 'x', service: 'x' })
    await makeDatabase(client, database)
  })
  let standbyCluster = newCluster()
  let standby = await startStandby(standbyCluster)
  const hosts = [primary.socket, standby.socket].join()
  const userOf = (role: DatabaseRole) => (role === 'superuser' ? 'postgres' : roleNames[role])
  return {
    url: (role) => `postgres://${userOf(role)}@localhost:5432/${database}?host=${encodeURIComponent(hosts)}`,
    urlOf: (which, role) => (which === 'primary' ? primary : standby).url(userOf(role), database),
    ask: (question, values = []) =>
      withClient(primary, database, async (client) => (await client.query(question, [...values])).rows),
    waitForStandby: () =>
      withClient(primary, 'postgres', async (client) => {
        await client.query(`alter system set synchronous_standby_names = '${standbyName}'`)
        await client.query('select pg_reload_conf()')
        // A commit ends only once the setting is read and the standby is connected.
        for (let isSet = false; !isSet; ) {
          const { rows } = await client.query<{ sync: string }>(
            'select sync_state as sync from pg_stat_replication',
          )
          isSet = rows.some(({ sync }) => sync === 'sync')
        }
      }),
    async cutOff() {
      await withClient(primary, 'postgres', async (client) => {
        await client.query('alter system reset synchronous_standby_names')
        await client.query('select pg_reload_conf()')
      })
      await withClient(standby, 'postgres', async (client) => {
        await client.query(`alter system set primary_conninfo = ''`)
        await client.query('select pg_reload_conf()')
        for (let isCut = false; !isCut; ) {
          const { rows } = await client.query('select from pg_stat_wal_receiver')
          isCut = rows.length === 0
        }
      })
    },
    promoteStandby: () =>
      withClient(standby, 'postgres', async (client) => {
        await client.query('select pg_promote()')
      }),
    losePrimary: () => primary.lose(),
    async rebuild() {
      primary = standby
      ;[primaryCluster, standbyCluster] = [standbyCluster, primaryCluster]
      standby = await startStandby(standbyCluster)
    },
    async remove() {
      await primary.lose()
      await standby.lose()
      for (const { folder, place } of clusters) {
        rmSync(place.folder, { recursive: true, force: true })
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}
