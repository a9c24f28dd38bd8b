import type { Locator, Page } from '@playwright/test'
import { type MadeTenant, makeQuote, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, app, expect, openWindow, test } from '../testing/pages.ts'

let tenant: MadeTenant
test.beforeAll(async () => {
  tenant = await makeTenant(app)
  for (let nth = 0; nth < 6; nth++) await makeQuote(app, tenant, { rate: 2000 + nth, outcome: 'won' })
  for (let nth = 0; nth < 6; nth++) await makeQuote(app, tenant, { rate: 2300 + nth, outcome: 'lost' })
})

const head = 'Origin\tDestination\tEquipment\tRate'
const lane = 'Dallas, TX\tAtlanta, GA\tV'

/** The dialog with rows pasted into it. */
async function pasteRows(rows: readonly string[], width = 1366): Promise<{ page: Page; dialog: Locator }> {
  const { page } = await openWindow({ person: tenant, width, refusalsExpected: true })
  await page.goto('/')
  await page.getByRole('button', { name: 'Paste rows' }).click()
  const dialog = page.getByRole('dialog', { name: 'Paste rows' })
  await dialog.getByRole('textbox', { name: 'Rows' }).fill(rows.join('\n'))
  return { page, dialog }
}

/** The field of a cell, which is there while the cell has the focus. */
const field = (dialog: Locator, name: string) =>
  dialog.getByRole('combobox', { name, exact: true }).and(dialog.locator('input'))
const cell = (dialog: Locator, name: string) => dialog.getByRole('button', { name: new RegExp(`^${name}:`) })
const row = (page: Page, number = 1) => page.getByRole('group', { name: `Quote ${number}`, exact: true })
const rateOf = (page: Page, number = 1) =>
  row(page, number).getByRole('textbox', { name: 'Rate', exact: true })

test.describe('wrong cells', () => {
  test('are corrected in place by keys alone, and never stop the other rows', async () => {
    const { page, dialog } = await pasteRows([
      head,
      `${lane}\t$2,150`,
      'Chicgo, IL\tHouston\tReefr\tcheap',
      `${lane}\t1900`,
    ])
    await dialog.getByText('2 quotes read, 1 row with errors').waitFor()
    await dialog.getByRole('button', { name: 'Add the 2 good rows' }).click()
    await dialog.getByText('0 quotes read, 1 row with errors').waitFor()
    // The focus is on the first wrong cell, and Enter leads to the next one.
    await expect(field(dialog, 'Origin of row 1')).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(field(dialog, 'Destination of row 1')).toBeFocused()
    await page.keyboard.type('houston, tx')
    await page.keyboard.press('Enter')
    await expect(field(dialog, 'Equipment of row 1')).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(field(dialog, 'Rate of row 1')).toBeFocused()
    // Keys of the dialog do nothing on the desk behind it.
    await page.keyboard.type('1.8k')
    await page.keyboard.press('Control+Enter')
    const add = dialog.getByRole('button', { name: 'Add 1 quote' })
    await expect(add).toBeFocused()
    await expect(add).toBeEnabled()
    await expect(dialog.getByText('"1.8k" is read as 1800.')).toBeVisible()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect(row(page, 3).getByRole('combobox', { name: 'Origin' })).toHaveValue('Chicago, IL')
    await expect(row(page, 3).getByRole('combobox', { name: 'Destination' })).toHaveValue('Houston, TX')
    await expect(row(page, 3).getByRole('combobox', { name: 'Equipment' })).toHaveValue('R')
    await expect(rateOf(page, 3)).toHaveValue('1800')
    await expect(page.getByRole('heading', { name: /saved/ })).toHaveCount(0)
  })

  test('Tab leads from one to the next and changes nothing', async () => {
    const { page, dialog } = await pasteRows([head, `Dalas, TX\tAtlanta, GA\tV\tlow`, `${lane}\thigh`])
    await dialog.getByText('0 quotes read, 2 rows with errors').waitFor()
    await page.keyboard.press('F8')
    for (const name of ['Rate of row 1', 'Rate of row 2']) {
      await page.keyboard.press('Tab')
      await expect(field(dialog, name)).toBeFocused()
    }
    await page.keyboard.press('Tab')
    await expect(cell(dialog, 'Origin of row 1')).toHaveText('Dalas, TX')
    await expect(cell(dialog, 'Rate of row 2')).toHaveText('high')
  })

  test('stay as corrected when Escape closes the dialog, and their list is inside of it', async () => {
    const { page, dialog } = await pasteRows([head, `Chicgo, IL\tAtlanta, GA\tV\tlow`])
    await cell(dialog, 'Origin of row 1').click()
    await dialog.getByRole('option', { name: 'Chicago, IL' }).click()
    await dialog.getByRole('option', { name: 'Leave empty' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Go on with pasted rows' }).click()
    await expect(cell(dialog, 'Origin of row 1')).toHaveText('Chicago, IL')
    await dialog.getByText('0 quotes read, 1 row with errors').waitFor()
    // Rows that are pasted into a field take their place.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(`${lane}\t1900\n${lane}\t1950`)})`)
    await rateOf(page).focus()
    await page.keyboard.press('Control+v')
    await dialog.getByText('2 quotes read').waitFor()
  })

  test('the same mistake is corrected in all its cells, kept, or left out with its row', async () => {
    const { page, dialog } = await pasteRows([
      head,
      'Houston\tAtlanta, GA\tV\t2000',
      'Atlanta, GA\tHouston\tV\t2100',
      'Xyzzyville, TX\tAtlanta, GA\tV\t2200',
      'Plughtown, TX\tAtlanta, GA\tV\t2300',
    ])
    await cell(dialog, 'Origin of row 1').click()
    await page.getByRole('option', { name: 'Houston, TX in all 2 cells' }).click()
    await dialog.getByText('2 quotes read, 2 rows with errors').waitFor()
    await cell(dialog, 'Origin of row 3').click()
    await page.getByRole('option', { name: 'Keep “Xyzzyville, TX”' }).click()
    await dialog.getByText('3 quotes read, 1 row with errors').waitFor()
    await cell(dialog, 'Origin of row 4').click()
    await page.getByRole('option', { name: 'Leave the row out' }).click()
    await dialog.getByRole('button', { name: 'Add 3 quotes' }).click()
    await expect(row(page, 2).getByRole('combobox', { name: 'Destination' })).toHaveValue('Houston, TX')
    await expect(row(page, 3).getByRole('combobox', { name: 'Origin' })).toHaveValue('Xyzzyville, TX')
  })
})

test.describe('columns', () => {
  test('of a header without one known word can be chosen', async () => {
    const { dialog } = await pasteRows(['Foo\tBar\tBaz', 'Dallas, TX\tAtlanta, GA\t1900'])
    await expect(dialog.getByRole('combobox', { name: 'Baz' })).toHaveValue('quoted_rate')
    await dialog.getByRole('combobox', { name: 'Foo' }).selectOption('Leave out')
    await dialog.getByText('We cannot tell which columns').first().waitFor()
    await dialog.getByRole('combobox', { name: 'Bar' }).selectOption('origin')
    await dialog.getByRole('combobox', { name: 'Foo' }).selectOption('destination')
    await dialog.getByText('Atlanta, GA → Dallas, TX, V, $1,900').waitFor()
  })

  test('rows keep their terms; the rate can be chosen; each other customer gets a draft', async () => {
    const columns = 'Customer\tFirst\tFinal\tBasis\tFuel\tCurrency\tMiles'
    const { page, dialog } = await pasteRows([
      `Origin\tDestination\tEquipment\t${columns}`,
      `${lane}\tAcme\t1\t1700\tlinehaul\t350\tCAD\t790`,
      `${lane}\tAcme\t1\t1800\tlinehaul\t350\tCAD\t790`,
      `${lane}\tBeta\t1\t1900\tlinehaul\t300\tCAD\t790`,
      'Total\t\t\t\t\t5400',
    ])
    await dialog.getByRole('combobox', { name: 'Final' }).selectOption('quoted_rate')
    await dialog.getByText('1 line with a total was left out.').waitFor()
    await dialog.getByText('1 row for Beta becomes a draft of its own.').waitFor()
    await dialog.getByText('$1,700 CAD linehaul').waitFor()
    await dialog.getByRole('button', { name: 'Add 3 quotes' }).click()
    await expect(page.getByRole('combobox', { name: 'Customer' })).toHaveValue('Acme')
    await expect(rateOf(page, 2)).toHaveValue('1800')
    await expect(row(page, 3)).toHaveCount(0)
    await row(page, 1)
      .getByRole('button', { name: 'Quote 1 is linehaul, Canadian dollars: change' })
      .waitFor()
    await page
      .getByRole('group', { name: 'Drafts' })
      .getByRole('button', { name: /^Beta: / })
      .first()
      .click()
    await expect(rateOf(page, 1)).toHaveValue('1900')
  })
})

test('the button that adds the rows stays on the screen of a laptop, below notes and many rows', async () => {
  const rows = Array.from({ length: 30 }, (_, nth) => `12/02/26\tDallas, TX\tAtlanta, GA\tV\t${2000 + nth}`)
  const { page, dialog } = await pasteRows([`Pickup\t${head}`, ...rows, 'Total\t\t\t\t60000'])
  await page.setViewportSize({ width: 1366, height: 657 })
  await dialog.getByText('1 line with a total was left out.').waitFor()
  await expect(dialog.getByRole('button', { name: 'Add 30 quotes' })).toBeInViewport({ ratio: 1 })
})

test('rates to check are named in their rows', async () => {
  const { dialog } = await pasteRows([`${lane}\t2100`, `${lane}\t210`])
  await dialog.getByText('2 quotes read, 1 rate to check.').waitFor()
  await dialog.getByText(/\$210 is 90% below the going rate/).waitFor()
})

for (const width of [1366, 390])
  test(`300 rows with half the cities wrong stay usable, ${width} wide`, { tag: '@long' }, async () => {
    const origins = ['Dallas, TX', 'Memphs, TN', 'Dallas, TX', 'Housten, TX']
    const rows = Array.from({ length: 300 }, (_, nth) => `${origins[nth % 4]}\tAtlanta, GA\tV\t${2000 + nth}`)
    const { page, dialog } = await pasteRows([head, ...rows], width)
    await dialog.getByText('150 quotes read, 150 rows with errors').waitFor()
    await page.keyboard.press('F8')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await dialog.getByText('300 quotes read').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add 300 quotes' }).click()
    await expect(page.getByRole('button', { name: 'Save 100 quotes' })).toBeVisible()
  })
