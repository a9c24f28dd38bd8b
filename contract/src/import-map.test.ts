import { expect, it } from 'vitest'
import { mapPairs, mapWith, settingIn } from './import-map.ts'

const odd = 'outcome:"Lost to ""CHR"", a=b"=lost'

it('a pair ends at a comma outside of double quotes, and its left side at an equals sign outside of them', () => {
  const pairs = [...mapPairs(` ${odd} ,origin="From, city", equipment == Van ,dates`)]
  expect(pairs).toMatchObject([
    { text: odd, left: 'outcome:"Lost to ""CHR"", a=b"', value: 'lost' },
    { name: 'origin', value: 'From, city', written: '"From, city"' },
    { left: 'equipment', written: '= Van' },
    'dates',
  ])
})

it('another pair takes the place of the one with its left side', () => {
  expect(mapWith(`basis=all_in,${odd}`, ['outcome:"Lost to ""CHR"", a=b"=won'])).toBe(
    'basis=all_in,outcome:"Lost to ""CHR"", a=b"=won',
  )
  expect(mapWith(`dates=day_first,${odd}`, ['dates=month_first'], [odd.slice(0, -5)])).toBe(
    'dates=month_first',
  )
  expect(mapWith('', ['dates=day_first'])).toBe('dates=day_first')
})

it('a setting is found beside values that look like it', () => {
  expect(settingIn('customer_name=="a,hidden=skip"', 'hidden')).toBeUndefined()
  expect(settingIn('customer_name=="a,b" , hidden = skip', 'hidden')).toBe('skip')
})
