/**
 * The values of the fuzzer, by kind: a list by hand of values that have broken other systems. None contains a word that the
 * oracle searches for in answers.
 */

const words = (text: string) => text.split(' ')
const deepList = '[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]'

/** JSON texts for numbers: too large, too small, too precise, in an unusual notation, or of another type. */
export const numberTexts: readonly string[] = [
  ...words('1e400 -1e400 1e309 1e-400 9007199254740993 -9223372036854775808 18446744073709551616'),
  ...words('-0 -0.0 0 -1 -0.01 0.001 2150.333 0.30000000000000004 1e-7 1E2 1e+2'),
  ...words('10000000 9999999.99 9999999.999 2147483647 2147483648 4294967296 1.7976931348623157e308'),
  ...words('01 +5 .5 5. 0x10 1_000 NaN Infinity -Infinity 1,5 --1 1e ١'),
  ...words('"12" "2150.00" "NaN" "Infinity" "" true false null [1] [] {} {"a":1} "1e400" """"'),
  ...['" 5 "', deepList, '9'.repeat(400)],
]

/** JSON texts of each type, and some that are no JSON, for members that are no numbers. */
export const otherTypes: readonly string[] = [
  ...words('0 -1 1e400 01 NaN "" "a" true null [1] [] {} {"a":1}'),
  deepList,
]

export const numberParameters: readonly string[] = [
  ...words('0 -1 1e309 1e3 0x10 1_000 +5 5. .5 05 Infinity NaN ١ ５ null undefined true [1] 1,2 1;2'),
  ...words('-0 0.001 9999999.999 2147483647 2147483648 9007199254740993 99999999999999999999'),
  ...['', ' ', ' 5 ', '1\u0000', '9'.repeat(400)],
]

/** Texts: scripts, text directions, invisible characters, injections into five languages, and text that cannot be saved. */
export const texts: readonly string[] = [
  ...['Ω≈ç√∫˜µ≤≥÷', '田中さんにあげて下さい', 'مُنَاقَشَةُ سُبُلِ', '👩‍👩‍👧‍👦 🇺🇸 ﷽', 'é vs e\u0301', '𝕋𝕣𝕦𝕔𝕜'],
  ...[
    '\u200bzero\u200dwidth\ufeff',
    '\u00a0no break\u3000',
    '\u2028line\u2029',
    'İıſẞ',
    'Z\u0351\u032b\u0343a\u0310',
  ],
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '{{7*7}} #{7*7} %{7*7} $\u007b7*7}'],
  ...["Robert'); DROP TABLE quotes;--", "1' OR '1'='1", "\\'; COMMIT; --", '1) UNION ALL', '\u02bc; --'],
  ...[
    "'||pg_sleep(9)||'",
    '=HYPERLINK("http://evil.example")',
    '+1-800-TRUCK',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '%',
  ],
  ...['$(reboot) `reboot` | reboot', '../../etc/passwd', '..\\..\\boot.ini', '%00 %0a %n%s%x', '%2e%2e%2f'],
  ...['//evil.example', '', ' ', '　', 'Dallas, TX, USA, , ,', 'Dallas, TX', ', '],
  ...words('null undefined NaN true 0 \\ \\u0000 " \' ` { } [ , : Dallas, ,TX'),
  ...words('__proto__ constructor prototype toString hasOwnProperty then toJSON length'),
  ...['a\u0000b', '\u0000', 'a\nb', 'a\r\nSet-Cookie: x=1', 'a\tb', '\u001b[31mred', 'a\u007fb', 'a\u0085b'],
  ...[
    'a\u202egnp.exe',
    'a\u2066b\u2069',
    'a\ufffeb',
    '\uffff',
    '\u{1fffe}',
    '\ud800',
    'a\udc00b',
    '\udc00\ud800',
  ],
  ...['n'.repeat(200), '😀'.repeat(200), 'n'.repeat(201), '😀'.repeat(201), 'n'.repeat(5000)],
  ...words('2026-02-30 0000-00-00 +275760-09-13 9999-12-31T23:59:60Z 2026-03-01T25:00:00Z -1-1-1'),
  ...words('2026-01-01 2026-01-01T00:00:00Z V R; won a@b.c a@b @ a@@b.c eyJhIjoxfQ'),
  `${'a'.repeat(250)}@b.cd`,
]

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')
const bytes = (...codes: number[]) => Buffer.from(codes)
const inText = (codes: readonly number[]) =>
  Buffer.concat([Buffer.from('{"lane_ref":"'), bytes(...codes), Buffer.from('"}')])

/** Bodies that JSON parsers read differently: valid, invalid and in between, like the known JSON test suites. */
export const jsonBodies: readonly (string | Buffer)[] = [
  ...words(
    '[ ] { } {} [] null true 1 "a" {"a" {"a": {"a":1 {"a":1, {"a":1,} {,} {"a":1,,"b":2} {"a"::1} {a:1}',
  ),
  ...words('{\'a\':1} {"a":1}{ {"a":1}} {"a":1}[] {"a":1}# {"a":1}/**/ {"a":1}// /*c*/{} {"a":/*c*/1}'),
  ...words('{"a":"\\x41"} {"a":"\\u12"} {"a":"\\u{41}"} {"a":"\\"} {"a":"\\ud800"} {"a":"\\ud800\\ud800"}'),
  ...words('{"a":"\\udc00\\ud800"} {"\\ud800":1} {"a":"\\u0000"} {"\\u0000":1} {"":""} {"a":1,"a":1}'),
  ...words('{"a":1,"\\u0061":2} {"a":{"b":1,"b":1}} {"__proto__":{}} {"\\u005f_proto__":1}'),
  ...words('{"constructor":{"prototype":{"x":1}}} {"a":[{"prototype":1}]} True nul truth nullx'),
  ...[
    '',
    ' ',
    '{"a" 1}',
    '{"a":"\t"}',
    '{"a":"\n"}',
    '{"toString":1,"valueOf":2,"hasOwnProperty":3,"then":4}',
  ],
  ...['\u00a0{}', '\u2028{}', '{}\u0000', '\u0000{}', '{"a":\u00001}', '\f{}', '\v{}', '{}\f', '\ufeff{}'],
  ...[`{"a":${'['.repeat(15)}${']'.repeat(15)}}`, `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ...[`{"a":${'['.repeat(60_000)}`, '{"a":'.repeat(9000), `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
  ...[`{${keys(64)}}`, `{${keys(65)}}`, `{"a":"${'x'.repeat(65_000)}"}`, `{"${'k'.repeat(9000)}":1}`],
  ...[' '.repeat(60_000), `${' '.repeat(30_000)}{}`, `{"a":[${'0,'.repeat(20_000)}0]}`],
  `{"a":"${'\\u0000'.repeat(5000)}"}`,
  Buffer.from('{}', 'utf16le'),
  Buffer.concat([bytes(0xff, 0xfe), Buffer.from('{}', 'utf16le')]),
  Buffer.concat([bytes(0xfe, 0xff, 0), Buffer.from('{}', 'utf16le')]),
  ...[[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xc3], [0xf4, 0x90, 0x80, 0x80]].map(inText),
  ...[[0x80], [0xfe], [0xe0, 0x80, 0x80], [0xe9]].map(inText),
  bytes(0x7b, 0xff, 0x7d),
  Buffer.alloc(1000),
  bytes(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3),
]

/** The words that long texts repeat: each kind of character that some reader treats differently, and combinations of them. */
export const repeated: readonly string[] = [
  ...[' ', '\t', '\n', '\r\n', '\u00a0', '\u200b', '\u3000', '\u0301', 'e\u0301', '\ufb03', '\u0000'],
  ...words('0 1 9 a A é İ ß 😀 漢 , ; | : = . - / \\ _ $ % # & + * @ ! ? " \' ` ( ) [ ] { } < >'),
  ...[', ', '. ', ' x', '1 ', 'a b', 'a\n', '1\n', 'a\t', ' TX, '],
  ...words('1, $1 a. 1/ -1 "" "a", a; a=b, origin=b, TX75201 00. {" [1, &a='),
]

/** A repetition alone, within a text, and after and before a valid value, because a pattern backtracks when its rest does not match. */
const forms: readonly ((run: string, valid: string) => string)[] = [
  (run) => run,
  (run) => `a${run}x`,
  (run, valid) => `${valid}${run}x`,
  (run, valid) => `${run}${valid}`,
]
export const formsCount = forms.length

/** Repeats a word to a length in characters. @example runOf('ab', 5) // 'ababa' */
export function runOf(word: string, length: number): string {
  const shown = Math.max(0, length)
  return word.repeat(Math.ceil(shown / word.length)).slice(0, shown)
}

/** Repeats a word to a length, in one of the forms. */
export function textOf(word: string, length: number, valid: string, form: number): string {
  const [bare] = forms
  return (forms[form % forms.length] ?? bare)?.(runOf(word, length - valid.length - 2), valid) ?? ''
}

/** HTTP methods, whether the API uses them or not. CONNECT is missing, because it asks for a tunnel. */
export const methods: readonly string[] = [
  ...words('GET HEAD POST PUT PATCH DELETE OPTIONS TRACE SEARCH PROPFIND LOCK MKCOL COPY'),
  ...words('QUERY PURGE get REPORT SUBSCRIBE M-SEARCH'),
]

/** Names of database columns, which a caller may try to set in a body. */
export const columnNames: readonly string[] = [
  ...words('tenant_id lane_id user_id role status source margin created_at created_by id password_hash'),
  ...words('outcome quoted_rate_cents customer_rate_cents scope jti expires_at updated_at'),
]

/** Headers with a meaning for other servers, or with none. */
export const oddHeaders: readonly (readonly [string, string])[] = [
  ['Prefer', 'handling=strict'],
  ['Prefer', 'handling="strict", x'],
  ['Accept', 'text/html'],
  ['Accept', '*/*;q=0'],
  ['Accept-Encoding', 'gzip, br'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['Expect', 'x'],
  ['Origin', 'null'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', '::1, 10.0.0.1'],
  ['Forwarded', 'for="_x"'],
  ['Cookie', 'a'],
  ['Cookie', '__Host-lanewise=x; __Host-lanewise=y'],
  ['Cookie', '='.repeat(3000)],
  ['Sec-Fetch-Site', 'cross-site'],
  ['X-Original-URL', '/api/users'],
  ['X-Service-Timestamp', '1e9'],
  ['X-Service-Timestamp', '٣'.repeat(3)],
  ['X-Service-Signature', 'sha256='],
  ['Te', 'trailers'],
  ['Via', '1.1 x'],
  ['Max-Forwards', '0'],
  ['Upgrade', 'h2c'],
  ['Host', 'evil.example'],
]

export const contentTypes: readonly string[] = [
  ...words(
    'text/plain application/json;charset=latin1 application/xml ; / application/x-www-form-urlencoded text/csv',
  ),
  ...[
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    '',
  ],
  ...['application/gzip', 'APPLICATION/JSON', 'application/json;', 'application/json; charset="utf-8"'],
  `a/${'b'.repeat(3000)}`,
]

export const encodings: readonly string[] = [
  'identity, gzip',
  ...words('gzip br deflate x-gzip zstd * IDENTITY'),
  '',
]
