import type { Endpoint } from './endpoint.ts'
import type { Signs } from './signature.ts'

/**
 * Programs that make one call of the API, ready to paste and run. The OpenAPI document has them for each operation, the dashboard
 * with the service's address and the brokerage's quotes, and docs/signing.md with example values. Tests run them.
 *
 * Programs read credentials from the environment and never contain them.
 */

export const codeLanguages = ['curl', 'python', 'typescript'] as const
/** The address in the programs of the OpenAPI document: the default address of a service. */
export const exampleBase = 'http://127.0.0.1:8080'
export type CodeLanguage = (typeof codeLanguages)[number]

/** The environment variable with the token of a call: a service token or a sign-in token. */
type TokenVariable = 'LANEWISE_TOKEN' | 'LANEWISE_SIGN_IN'

/** One call, as a program makes it. */
export interface CodeCall {
  /** The service's URL without a trailing slash. */
  readonly base: string
  readonly method: Endpoint['method']
  readonly path: string
  /** The query parameters, not encoded. */
  readonly asked?: readonly (readonly [name: string, value: string])[]
  /** Null if no credential is read. */
  readonly token: TokenVariable | null
  /** The part of the request that the signature covers; null if the call is not signed. */
  readonly signs: Signs | null
  /** An object is sent as JSON, and a text as a CSV file. */
  readonly body?: Readonly<Record<string, unknown>> | string
}

/**
 * The program of a call. It prints the response and its status.
 *
 * @example codeOf('curl', { base: 'http://127.0.0.1:8080', method: 'GET', path: '/api/me', token: 'LANEWISE_SIGN_IN', signs: null })
 */
export function codeOf(language: CodeLanguage, call: CodeCall): string {
  switch (language) {
    case 'curl':
      return curlCode(call)
    case 'python':
      return pythonCode(call)
    case 'typescript':
      return scriptCode(call)
  }
}

/** True for a call whose program writes the parameters one by one. Other calls have them in the address, which may be signed. */
const isPlainRead = ({ method, signs, body }: CodeCall) =>
  method === 'GET' && signs === null && body === undefined

function pathOf({ path, asked = [] }: CodeCall): string {
  const query = new URLSearchParams(Object.fromEntries(asked)).toString()
  return query === '' ? path : `${path}?${query}`
}

const contentType = ({ body }: CodeCall) => (typeof body === 'string' ? 'text/csv' : 'application/json')

function curlCode(call: CodeCall): string {
  const { base, method, path, asked = [], token, signs, body } = call
  const address = shellText(`${base}${isPlainRead(call) ? path : pathOf(call)}`)
  const isRead = isPlainRead(call)
  const get = isRead && asked.length > 0 ? '-G ' : ''
  // curl sends a POST if there is a body, and else a GET.
  const verb = method === (body === undefined ? 'GET' : 'POST') ? '' : `-X ${method} `
  const options = [
    ...(token === null ? [] : [`-H "Authorization: Bearer $${token}"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: ${contentType(call)}'`]),
    ...(signs === null
      ? []
      : ['-H "X-Service-Timestamp: $TIMESTAMP"', '-H "X-Service-Signature: sha256=$SIGNATURE"']),
    ...(isRead ? asked.map(([name, value]) => `--data-urlencode ${shellText(`${name}=${value}`)}`) : []),
    ...(body === undefined ? [] : ['--data-binary "$BODY"']),
  ]
  const text = body === undefined ? "''" : shellText(typeof body === 'string' ? body : JSON.stringify(body))
  const signed =
    signs === 'body'
      ? `printf '%s' "$TIMESTAMP.$BODY"`
      : `printf '%s\\n%s' "$TIMESTAMP.${method} ${pathOf(call)}" "$BODY"`
  return [
    ...(body === undefined && signs === null ? [] : [`BODY=${text}`]),
    ...(signs === null
      ? []
      : [
          'TIMESTAMP=$(date +%s)',
          `SIGNATURE=$(${signed} | openssl dgst -sha256 -hmac "$LANEWISE_SECRET" | sed 's/^.*= //')`,
        ]),
    [`curl -sS -w '\\nHTTP %{http_code}\\n' ${verb}${get}${address}`, ...options].join(' \\\n  '),
  ].join('\n')
}

const pythonAnswer = `try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as refusal:
    response = refusal
print(response.read().decode())
print("HTTP", response.status)`

function pythonCode(call: CodeCall): string {
  const { base, method, path, asked = [], token, signs, body } = call
  const isRead = isPlainRead(call)
  const verb = method === (body === undefined ? 'GET' : 'POST') ? [] : [`    method="${method}",`]
  if (signs === null && body === undefined) {
    const withQuery = isRead && asked.length > 0
    const address = pythonText(`${base}${withQuery ? `${path}?` : pathOf(call)}`)
    return [
      `import os, urllib.error, ${withQuery ? 'urllib.parse, ' : ''}urllib.request`,
      '',
      ...(withQuery
        ? [
            'query = urllib.parse.urlencode({',
            ...asked.map(([name, value]) => `    ${pythonText(name)}: ${pythonText(value)},`),
            '})',
          ]
        : []),
      'request = urllib.request.Request(',
      `    ${address}${withQuery ? ' + query' : ''},`,
      ...verb,
      ...(token === null ? [] : [`    headers={"Authorization": "Bearer " + os.environ["${token}"]},`]),
      ')',
      pythonAnswer,
    ].join('\n')
  }
  const covered =
    signs === 'body'
      ? 'timestamp.encode() + b"." + body'
      : `(timestamp + ${pythonText(`.${method} ${pathOf(call)}\n`)}).encode() + body`
  return [
    signs === null
      ? `import json, ${token === null ? '' : 'os, '}urllib.error, urllib.request`
      : 'import hashlib, hmac, json, os, time, urllib.error, urllib.request',
    '',
    ...(signs === null
      ? []
      : [
          'token, secret = os.environ["LANEWISE_TOKEN"], os.environ["LANEWISE_SECRET"]',
          '# Serialised once: these bytes are signed, and these bytes are sent.',
        ]),
    ...(body === undefined
      ? ['body = b""']
      : typeof body === 'string'
        ? [`body = ${pythonText(body)}.encode()`]
        : [
            'body = json.dumps({',
            ...Object.entries(body).map(([name, value]) => `    ${pythonText(name)}: ${pythonValue(value)},`),
            '}).encode()',
          ]),
    ...(signs === null
      ? []
      : [
          'timestamp = str(int(time.time()))',
          `signature = hmac.new(secret.encode(), ${covered}, hashlib.sha256).hexdigest()`,
        ]),
    'request = urllib.request.Request(',
    `    ${pythonText(`${base}${pathOf(call)}`)},`,
    '    data=body,',
    ...verb,
    '    headers={',
    ...(token === null
      ? []
      : [`        "Authorization": "Bearer " + ${signs === null ? `os.environ["${token}"]` : 'token'},`]),
    `        "Content-Type": "${contentType(call)}",`,
    ...(signs === null
      ? []
      : [
          '        "X-Service-Timestamp": timestamp,',
          '        "X-Service-Signature": "sha256=" + signature,',
        ]),
    '    },',
    ')',
    pythonAnswer,
  ].join('\n')
}

const scriptAnswer = `console.log(await response.text())
console.log('HTTP', response.status)`

function scriptCode(call: CodeCall): string {
  const { base, method, path, asked = [], token, signs, body } = call
  const withQuery = isPlainRead(call) && asked.length > 0
  const credentials = [
    ...(token === null ? [] : [`${token}: token = ''`]),
    ...(signs === null ? [] : ["LANEWISE_SECRET: secret = ''"]),
  ]
  const authorization = `Authorization: \`Bearer \${token}\``
  const head = [
    ...(signs === null ? [] : ["import { createHmac } from 'node:crypto'", '']),
    ...(credentials.length === 0 ? [] : [`const { ${credentials.join(', ')} } = process.env`]),
  ]
  if (isPlainRead(call)) {
    const options = token === null ? '' : `, { headers: { ${authorization} } }`
    return [
      ...head,
      ...(withQuery
        ? [
            `const address = new URL(${scriptText(`${base}${path}`)})`,
            'address.search = new URLSearchParams({',
            ...asked.map(([name, value]) => `  ${name}: ${scriptText(value)},`),
            '}).toString()',
          ]
        : []),
      `const response = await fetch(${withQuery ? 'address' : scriptText(`${base}${path}`)}${options})`,
      scriptAnswer,
    ].join('\n')
  }
  const covered =
    signs === 'body' ? `\`\${timestamp}.\${body}\`` : `\`\${timestamp}.${method} ${pathOf(call)}\\n\${body}\``
  return [
    ...head,
    ...(signs === null ? [] : ['// Serialised once: these bytes are signed, and these bytes are sent.']),
    ...(body === undefined
      ? signs === null
        ? []
        : ["const body: string = ''"]
      : typeof body === 'string'
        ? [`const body: string = ${scriptText(body)}`]
        : [
            'const body: string = JSON.stringify({',
            ...Object.entries(body).map(([name, value]) => `  ${scriptName(name)}: ${scriptValue(value)},`),
            '})',
          ]),
    ...(signs === null
      ? []
      : [
          'const timestamp = String(Math.floor(Date.now() / 1000))',
          `const signature = createHmac('sha256', secret).update(${covered}).digest('hex')`,
        ]),
    `const response = await fetch(${scriptText(`${base}${pathOf(call)}`)}, {`,
    `  method: '${method}',`,
    ...(token === null && body === undefined
      ? []
      : [
          '  headers: {',
          ...(token === null ? [] : [`    ${authorization},`]),
          ...(body === undefined ? [] : [`    'Content-Type': '${contentType(call)}',`]),
          ...(signs === null
            ? []
            : [
                "    'X-Service-Timestamp': timestamp,",
                `    'X-Service-Signature': \`sha256=\${signature}\`,`,
              ]),
          '  },',
        ]),
    ...(body === undefined && signs === null ? [] : ['  body,']),
    '})',
    scriptAnswer,
  ].join('\n')
}

/** A POSIX shell string without expansion. @example shellText("O'Fallon, MO") // "'O'\\''Fallon, MO'" */
export function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A Python string. JSON escapes are valid in Python. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

function pythonValue(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, one]) => `${pythonText(name)}: ${pythonValue(one)}`)
    .join(', ')}}`
}

/** A single-quoted TypeScript string. */
function scriptText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

const scriptName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : scriptText(name))

function scriptValue(value: unknown): string {
  if (typeof value === 'string') return scriptText(value)
  if (Array.isArray(value)) return `[${value.map(scriptValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${scriptName(name)}: ${scriptValue(one)}`)
    .join(', ')} }`
}
