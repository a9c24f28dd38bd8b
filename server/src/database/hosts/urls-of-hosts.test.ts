import { expect, test } from 'vitest'
import { urlProblem, urlsOfHosts } from './urls-of-hosts.ts'

test.each([
  ['postgres://u:p@a:1/db?sslmode=verify-full', ['postgres://u:p@a:1/db?sslmode=verify-full']],
  ['postgres://u:p@a:1,b/db', ['postgres://u:p@a:1/db', 'postgres://u:p@b/db']],
  [
    'postgres://u:p@[::1]:1,10.0.0.2:2/db?sslmode=require&target_session_attrs=read-write',
    ['postgres://u:p@[::1]:1/db?sslmode=require', 'postgres://u:p@10.0.0.2:2/db?sslmode=require'],
  ],
  [
    'postgres://u@localhost:5432/db?host=%2Frun%2Fa,/run/b',
    ['postgres://u@localhost:5432/db?host=%2Frun%2Fa', 'postgres://u@localhost:5432/db?host=%2Frun%2Fb'],
  ],
  [
    'postgres://u@localhost/db?host=a,b&port=1,2',
    ['postgres://u@localhost/db?host=a&port=1', 'postgres://u@localhost/db?host=b&port=2'],
  ],
])('the hosts of %s', (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls)
  expect(urlProblem(url)).toBeNull()
})

test.each([
  ['mysql://a/db', /^must be a URL such as/],
  ['postgres://a:x,b/db', /^must be a URL such as/],
  ['a,b', /^must be a URL such as/],
  [
    'postgres://a,b/db?target_session_attrs=any',
    /^has target_session_attrs=any, but the service writes: it must be read-write or primary\.$/,
  ],
  ['postgres://a/db?sslrootcert=/nowhere.pem', /^cannot be used: ENOENT: .*nowhere\.pem'\.$/],
  ['postgres://a:1,b/db?sslkey=/nowhere.pem', /^cannot be used: ENOENT: .*nowhere\.pem'\.$/],
  ['postgres://a/db?target_session_attrs=standby', /^has target_session_attrs=standby/],
])('the problem of %s', (url, problem) => {
  expect(urlProblem(url)).toMatch(problem)
})
