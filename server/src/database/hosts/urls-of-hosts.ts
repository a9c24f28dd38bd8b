import pg from 'pg'

/** The values of `target_session_attrs` that connections to a primary fulfill. */
const attributesOfPrimary = ['read-write', 'primary']

/**
 * The URLs of the single hosts in a URL of several, in their order. A URL of one host is returned as it is. As in libpq, hosts are
 * separated by commas, each with its own port, or in the parameters `host` and `port` (one port counts for all hosts).
 *
 * @example urlsOfHosts('postgres://u:p@a:5432,b/lanewise') // ['postgres://u:p@a:5432/lanewise', 'postgres://u:p@b/lanewise']
 */
export function urlsOfHosts(url: string): string[] {
  const [address = '', query = ''] = url.split(/\?(.*)/s)
  const afterScheme = address.indexOf('://') + 3
  const slash = address.indexOf('/', afterScheme)
  const end = slash === -1 ? address.length : slash
  const begin = Math.max(afterScheme, address.lastIndexOf('@', end) + 1)
  const [start, authority, path] = [address.slice(0, begin), address.slice(begin, end), address.slice(end)]
  const parameters = new URLSearchParams(query)
  const hosts = parameters.get('host')?.split(',')
  const ports = parameters.get('port')?.split(',')
  const inAuthority = authority.split(',')
  const count = Math.max(hosts?.length ?? 0, inAuthority.length)
  if (count === 1) return [url]
  return Array.from({ length: count }, (_, at) => {
    const of = (values: readonly string[]) => (values.length === 1 ? values[0] : values[at]) ?? ''
    const own = new URLSearchParams(parameters)
    own.delete('target_session_attrs')
    if (hosts !== undefined) own.set('host', of(hosts))
    if (ports !== undefined) own.set('port', of(ports))
    return `${start}${of(inAuthority)}${path}${own.size === 0 ? '' : `?${own}`}`
  })
}

/**
 * What is wrong with the URL of a database; null if nothing is.
 *
 * @example urlProblem('mysql://a') // 'must be a URL such as postgres://user:password@host:5432/lanewise.'
 */
export function urlProblem(url: string): string | null {
  const urls = urlsOfHosts(url)
  if (urls.some((one) => !URL.canParse(one) || !/^postgres(ql)?:$/.test(new URL(one).protocol))) {
    return 'must be a URL such as postgres://user:password@host:5432/lanewise, or with several hosts, postgres://user:password@host1:5432,host2:5432/lanewise.'
  }
  const [problem] = urls.flatMap((one) => driverProblem(one) ?? [])
  if (problem !== undefined) return problem
  const wanted = /[?&]target_session_attrs=([^&]*)/.exec(url)?.[1]
  return wanted === undefined || attributesOfPrimary.includes(wanted)
    ? null
    : `has target_session_attrs=${wanted}, but the service writes: it must be ${attributesOfPrimary.join(' or ')}.`
}

/** The driver reads the URL and the files of certificates that it names, before it connects. */
function driverProblem(url: string): string | null {
  try {
    new pg.Client({ connectionString: url })
    return null
  } catch (error) {
    return `cannot be used: ${error instanceof Error ? error.message : error}.`
  }
}
