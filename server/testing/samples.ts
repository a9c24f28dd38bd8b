/** One sample of a Prometheus scrape. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Scrape {
  readonly samples: readonly Sample[]
  /** The type of every metric by name, including metrics without samples. */
  readonly types: ReadonlyMap<string, string>
  /** The sum of all samples with this name and these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelForm = /(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g

/** Parses the Prometheus text format. Throws on an invalid line. */
export function readScrape(text: string): Scrape {
  const samples: Sample[] = []
  const types = new Map<string, string>()
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line)
    if (type !== null) types.set(type[1] ?? '', type[2] ?? '')
    if (line === '' || line.startsWith('# ')) continue
    const found = sampleLine.exec(line)
    const value = Number(found?.[3]?.replace('Inf', 'Infinity'))
    if (found === null || (Number.isNaN(value) && !/^nan$/i.test(found[3] ?? '')))
      throw new Error(`Not a sample: ${line}`)
    const labels = [...(found[2] ?? '').matchAll(labelForm)].map((label) => [label[1] ?? '', label[2] ?? ''])
    samples.push({ name: found[1] ?? '', labels: Object.fromEntries(labels), value })
  }
  return {
    samples,
    types,
    sum: (name, labels = {}) =>
      samples
        .filter(
          (sample) =>
            sample.name === name &&
            Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
        )
        .reduce((total, { value }) => total + value, 0),
  }
}
