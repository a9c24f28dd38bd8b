import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { problems } from '#contract/errors.ts'
import { startWatching, type Watching } from '#server/watching/index.ts'
import { call, makeIntegration, pushUpdate } from '#testing/make.ts'
import { readScrape, type Scrape } from '#testing/samples.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { has, run, tableRows } from './page.ts'
import { root, shippedFiles, textOf } from './repository.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

const dashboard = JSON.parse(textOf('deploy/watching/dashboard.json')) as {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}
const rules = (
  parse(textOf('deploy/watching/alerts.yml')) as { groups: readonly { rules: readonly AlertRule[] }[] }
).groups.flatMap((group) => group.rules)

const queries = [
  ...rules.map(({ alert, expr }) => ({ from: alert, expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ from: `${title} ${refId}`, expr })),
  ),
]

/** Replaces the variables that Grafana substitutes before it sends a query to Prometheus. */
const asAsked = (expr: string) =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('"$instance"', '"127.0.0.1:9464"')

interface Selected {
  readonly metric: string
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[]
}

/** The metrics of a query with their label conditions, the labels that it groups by, and its syntax errors. */
function readQuery(expr: string): { selected: Selected[]; grouped: string[]; wrong: string[] } {
  const asked = asAsked(expr)
  const selected: Selected[] = []
  const grouped: string[] = []
  const wrong: string[] = []
  const textAt = (node: { from: number; to: number }) => asked.slice(node.from, node.to)
  parser.parse(asked).iterate({
    enter(node) {
      if (node.type.isError) wrong.push(asked.slice(Math.max(0, node.from - 20), node.to + 20))
      if (node.name === 'GroupingLabels') {
        grouped.push(...[...textAt(node).matchAll(/\w+/g)].map(([label]) => label))
      }
      if (node.name !== 'VectorSelector') return
      const [, metric = '', conditions = ''] = /^([\w:]+)\s*(?:\{([\s\S]*)\})?$/.exec(textAt(node)) ?? []
      const matchers = [...conditions.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)]
      selected.push({
        metric,
        matchers: matchers.map(([, label = '', operator = '', value = '']) => ({ label, operator, value })),
      })
    },
  })
  return { selected, grouped, wrong }
}

/** Labels that Prometheus adds. */
const givenLabels = new Set(['job', 'instance', 'le'])
const givenMetrics = new Set(['up'])
/** The labels of metrics that have samples only on Citus. */
const workerLabels = ['worker']
const statuses = Object.values(problems).map(({ status }) => String(status))
/** Possible label values for which a healthy service has no sample yet. */
const words: Readonly<Record<string, readonly string[]>> = {
  'lanewise_refusals_total code': Object.keys(problems),
  'lanewise_http_requests_total status': ['200', '201', '404', '499', ...statuses],
}

let app: TestApp
let watching: Watching
let scrape: Scrape

beforeAll(async () => {
  app = await testApp({
    sendEvents: {},
    watching: async (log) => {
      watching = await startWatching(
        { metrics: { port: 0, host: '127.0.0.1' }, traces: null },
        { log, monotonic: () => performance.now() },
      )
      return watching
    },
  })
  const ours = await makeIntegration(app)
  const lane = 'origin=Dallas,TX&destination=Atlanta,GA'
  for (let times = 0; times < 2; times++) {
    await call(app, 'GET', `/api/integrations/insights/lane?${lane}`, { token: ours.token })
    await call(app, 'GET', `/api/integrations/insights/markup?${lane}&proposed_rate=2000`, {
      token: ours.token,
    })
  }
  await pushUpdate(app, ours, { lane_ref: 'none' })
  await call(app, 'GET', '/readyz')
  // Make garbage until a collection has run, so that its metric has a sample.
  for (let tries = 0; tries < 100; tries++) {
    Array.from({ length: 1e6 }, (_, at) => ({ at }))
    scrape = readScrape(await watching.read())
    if (scrape.sum('nodejs_gc_duration_seconds_count') > 0) break
    await delay(20)
  }
})
afterAll(() => app.close())

const labelsOf = (metric: string) =>
  new Map(
    scrape.samples
      .filter(({ name }) => name === metric)
      .flatMap(({ labels }) => Object.keys(labels))
      .map((label) => [
        label,
        new Set(scrape.samples.flatMap(({ name, labels }) => (name === metric ? (labels[label] ?? []) : []))),
      ]),
  )

describe('a query', () => {
  test('with a syntax error is detected', () => {
    expect(readQuery('sum(rate(lanewise_http_requests_total[5m])').wrong).not.toEqual([])
    expect(readQuery('sum by (le) (rate(x_total{a="1", b!~"2.*"}[5m])) / up')).toEqual({
      selected: [
        {
          metric: 'x_total',
          matchers: [
            { label: 'a', operator: '=', value: '1' },
            { label: 'b', operator: '!~', value: '2.*' },
          ],
        },
        { metric: 'up', matchers: [] },
      ],
      grouped: ['le'],
      wrong: [],
    })
  })

  test.each(queries)(
    'of $from is well-formed, and its metrics and labels exist in the service',
    ({ expr }) => {
      const { selected, grouped, wrong } = readQuery(expr)
      expect(wrong).toEqual([])
      expect(selected).not.toEqual([])
      for (const { metric, matchers } of selected) {
        if (givenMetrics.has(metric)) continue
        if (metric.startsWith('lanewise_worker_')) {
          expect([metric, scrape.types.get(metric)]).toEqual([metric, 'gauge'])
          continue
        }
        const labels = labelsOf(metric)
        expect([metric, scrape.samples.some(({ name }) => name === metric)]).toEqual([metric, true])
        for (const { label, operator, value } of matchers) {
          if (givenLabels.has(label)) continue
          expect([metric, label, labels.has(label)]).toEqual([metric, label, true])
          // The metric can have each value of the condition.
          const asked = operator.endsWith('~') ? value.split('|') : [value]
          const values = words[`${metric} ${label}`] ?? [...(labels.get(label) ?? [])]
          expect(
            asked.filter((word) => !values.some((known) => new RegExp(`^(?:${word})$`).test(known))),
          ).toEqual([])
        }
      }
      const known = new Set(
        selected.flatMap(({ metric }) => [...labelsOf(metric).keys(), ...givenLabels, ...workerLabels]),
      )
      expect(grouped.filter((label) => !known.has(label))).toEqual([])
    },
  )

  test.each(queries)('of $from uses the rate of counters, and of counters only', ({ expr }) => {
    for (const [, metric = ''] of asAsked(expr).matchAll(/\b(?:rate|increase)\(\s*([\w:]+)/g)) {
      expect([metric, scrape.types.get(metric.replace(/_(bucket|sum|count)$/, ''))]).toEqual([
        metric,
        expect.stringMatching(/^(counter|histogram)$/),
      ])
    }
    for (const { metric } of readQuery(expr).selected) {
      if (scrape.types.get(metric) !== 'counter') continue
      expect(asAsked(expr)).toMatch(new RegExp(`(rate|increase)\\(\\s*${metric}\\b`))
    }
  })
})

describe('the dashboard', () => {
  test('is laid out on 24 columns, and no panel overlaps another', () => {
    const taken = new Map<string, string>()
    for (const { title, gridPos } of dashboard.panels) {
      const { x, y, w, h } = gridPos
      expect([title, x >= 0 && w > 0 && x + w <= 24]).toEqual([title, true])
      for (let column = x; column < x + w; column++) {
        for (let line = y; line < y + h; line++) {
          expect(taken.get(`${column} ${line}`)).toBeUndefined()
          taken.set(`${column} ${line}`, title)
        }
      }
    }
  })

  test('has panels with unique names and numbers, which use the selected data source', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
    for (const { type, title, datasource, targets = [] } of panels) {
      if (type === 'row') continue
      expect([title, datasource?.uid]).toEqual([title, `\${datasource}`])
      expect(['timeseries', 'stat']).toContain(type)
      expect(targets.length).toBeGreaterThan(0)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
      for (const { expr } of targets) expect(expr).toContain('instance=~"$instance"')
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance'])
  })
})

describe('the alerts', () => {
  test('have unique names, a severity, and a section in docs/watching.md', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    const listed = tableRows('docs/watching.md', 'Alerts')
    expect(listed.map(([alert]) => alert)).toEqual(rules.map(({ alert }) => alert))
    const headings = [...textOf('docs/watching.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
    expect(headings).toEqual(rules.map(({ alert }) => alert))
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect(listed.find(([name]) => name === alert)?.[1]).toBe(labels.severity)
      expect(annotations.summary).toMatch(/\.$/)
      // The headings are compared above: this is the address of the alert's own.
      expect(annotations).toEqual({
        summary: annotations.summary,
        runbook_url: `docs/watching.md#${alert.toLowerCase()}`,
      })
    }
  })

  test('are rules as Prometheus reads them: no other members, and durations', () => {
    const file = parse(textOf('deploy/watching/alerts.yml')) as { groups: readonly Record<string, unknown>[] }
    expect(Object.keys(file)).toEqual(['groups'])
    for (const group of file.groups) expect(Object.keys(group)).toEqual(['name', 'rules'])
    for (const rule of rules) {
      const members = Object.keys(rule).filter((name) => name !== 'for')
      expect([rule.alert, members]).toEqual([rule.alert, ['alert', 'expr', 'labels', 'annotations']])
      expect(rule.for ?? '1m').toMatch(/^\d+[smhd]$/)
      expect(Object.keys(rule.labels)).toEqual(['severity'])
      // Each variable of a summary is one that Prometheus has, with a function of its templates.
      const templates = [...rule.annotations.summary.matchAll(/\{\{(.*?)\}\}/g)].map(([, text = '']) =>
        text.trim(),
      )
      expect(
        templates.filter(
          (text) => !/^\$(value|labels\.\w+)( \| humanize(Percentage|Duration|1024)?)?$/.test(text),
        ),
      ).toEqual([])
    }
  })

  test('report a job without targets, a lost instance, and a backup that is too old', () => {
    const exprOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr
    expect(exprOf('LanewiseNotWatched')).toBe('absent(up{job="lanewise"})')
    const { minReplicas } = (
      parse(textOf('deploy/kubernetes/autoscaler.yaml')) as { spec: { minReplicas: number } }
    ).spec
    expect(exprOf('LanewiseInstanceMissing')).toMatch(new RegExp(`< ${minReplicas}$`))
    expect(exprOf('LanewiseBackupOld')).toContain('lanewise_backup_verified_timestamp_seconds')
  })

  test.skipIf(!has('promtool'))('fire as expected on recorded series', async () => {
    const folder = `${root}/deploy/watching`
    for (const args of [
      ['check', 'rules', `${folder}/alerts.yml`],
      ['test', 'rules', `${folder}/alerts-test.yml`],
    ]) {
      const { code, output, complaint } = await run('promtool', args)
      expect([basename(args[2] ?? ''), code, code === 0 ? '' : output + complaint]).toEqual([
        basename(args[2] ?? ''),
        0,
        '',
      ])
    }
  })
})

test('the packages for metrics and traces are imported by one file each, and no other file imports these two statically', () => {
  const loading = shippedFiles()
    .filter((path) => path.startsWith('server/'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/^(?:import (?!type )[^;]*?|\} )from '([^']+)'/gm)].map(([, from = '']) => ({
        path,
        from,
      })),
    )
  const of = (pattern: RegExp) => [
    ...new Set(loading.filter(({ from }) => pattern.test(from)).map(({ path }) => path)),
  ]
  expect(of(/^prom-client$/)).toEqual(['server/src/watching/metrics.ts'])
  expect(of(/^@opentelemetry\//)).toEqual(['server/src/watching/traces.ts'])
  expect(of(/\/(metrics|traces)\.ts$/)).toEqual([])
})

test('docs/watching.md lists every metric of the service, and no other; its name says its kind', () => {
  const own = [...scrape.types].filter(([name]) => name.startsWith('lanewise_'))
  const section = /^## Metrics\n([\s\S]*?)^## /m.exec(textOf('docs/watching.md'))?.[1] ?? ''
  const listed = [...section.matchAll(/`(lanewise_\w+)`/g)].map(([, name]) => name)
  expect(listed).toEqual(own.map(([name]) => name).toSorted())
  const kindOf = (name: string) =>
    name.endsWith('_total') ? 'counter' : name.endsWith('_duration_seconds') ? 'histogram' : 'gauge'
  expect(own.filter(([name, kind]) => kind !== kindOf(name))).toEqual([])
})
