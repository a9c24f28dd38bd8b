import { describe, expect, it } from 'vitest'
import { numberWriter, textCell } from './workbook-cells.ts'

const shown = (format: string, value = 1850.5) => numberWriter(format, false)(value)

describe('the number of a cell', () => {
  it.each([
    ...['[$CAD] #,##0.00', '[$$-1009]#,##0.00', '[$$-c0c]#,##0', '[$$-0C0C]#,##0', '[$$-en-CA]0'],
    ...[
      '[$C$-1009]#,##0',
      '[$CA$]#,##0.00',
      '"CA$"#,##0.00',
      '"C$"0',
      'C$0',
      '"CDN" 0',
      '0 "CAD$"',
      '\\C\\A\\$0',
    ],
    ...['#,##0.00 "CAD"', '$#,##0.00 "CAD"', '#,##0 [$CAN$]', '[$CAD]0;[Red]-[$CAD]0', 'General" CAD"'],
    ...['_-[$$-1009]* #,##0.00_-;-[$$-1009]* #,##0.00_-;_-[$$-1009]* "-"??_-;_-@_-'],
  ])('is Canadian dollars in the format %s', (format) => {
    expect(shown(format)).toBe('1850.5 CAD')
    expect(shown(format, -20)).toBe('-20 CAD')
  })

  it.each([
    ...['_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', '$#,##0.00', '"$"#,##0_);[Red]("$"#,##0)'],
    ...[
      '[$$-409]#,##0.00',
      '[$$-en-US]0',
      '[$USD] 0',
      '0 "USD"',
      '"US$"0',
      '[$US$-409]0',
      '[$$]0',
      '[$$-407]0',
    ],
    ...['General', '0', '#,##0.00', '0.0', '@', '[$-409]0', '[Red]0', '0 "loads"', '"ALL IN" 0', '# ?/?'],
    ...['0.00E+00', '$#,##0.0,"K"', '0 "mi"', '', ';;;', '[>9', '"open', '[$'],
    // The number is the whole amount, and only its form is shorter.
    ...['0.0,"k"', '#,##0,', '0 "kg"'],
  ])('is plain in the format %s', (format) => {
    expect(shown(format)).toBe('1850.5')
  })

  it.each([
    ['[$€-2] #,##0.00', '1850.5 EUR'],
    ['#,##0.00 [$€-407]', '1850.5 EUR'],
    ['[$EUR] 0', '1850.5 EUR'],
    ['€0', '1850.5 EUR'],
    ['£#,##0', '1850.5 GBP'],
    ['_-[$£-809]* #,##0.00_-', '1850.5 GBP'],
    ['"MX$"#,##0', '1850.5 MXN'],
    ['[$$-80A]#,##0', '1850.5 MXN'],
    ['[$MXN] 0', '1850.5 MXN'],
    ['[$$-C09]0', '1850.5 AUD'],
    ['[$kr-414] 0', '1850.5 kr'],
    ['"CA$"0;-"€"0', '1850.5 CAD/EUR'],
    ['0"¢"', '1850.5¢'],
    ['0 "cents"', '1850.5¢'],
    ['$0.00"/mi"', '1850.5 /mi'],
    ['$0.00 "per mile"', '1850.5 per mile'],
    ['"CA$"0.00"/km"', '1850.5 CAD /km'],
    ['0 "km"', '1850.5 km'],
    ['0.0"%"', '1850.5%'],
    ['0.0\\%', '1850.5%'],
    ['0.0"% FSC"', '1850.5%'],
    ['$0.0"K"', '1850.5k'],
    ['0.0" thousand"', '1850.5k'],
  ])('says its currency or unit in the format %s', (format, expected) => {
    expect(shown(format)).toBe(expected)
  })

  it.each([
    ['0%', 0.85, '85%'],
    ['0.00%', 0.07, '7%'],
    ['0.0%;[Red]-0.0%', -0.125, '-12.5%'],
    ['00000', 7501, '07501'],
    ['m/d/yy', 45_658, '2025-01-01'],
    ['[$-409]d-mmm-yy h:mm;@', 45_658.604_166_666_664, '2025-01-01 14:30:00'],
    ['yyyy-mm-dd', -1, '-1'],
    ['yyyy-mm-dd', 3_000_000, '3000000'],
    ['0.00', 1850.300_000_000_000_2, '1850.3000000000002'],
    ['$0.00', 2.2451, '2.2451'],
  ])('of the format %s, %d, is written as %s', (format, value, expected) => {
    expect(shown(format, value)).toBe(expected)
  })

  it('counts days from 1904 if the workbook does', () => {
    expect(numberWriter('m/d/yy', true)(44_196)).toBe('2025-01-01')
  })
})

describe('the text of a cell', () => {
  it.each([
    ['1.855', '="1.855"'],
    ['$1.855', '="$1.855"'],
    ['1,855.125 CAD', '="1,855.125 CAD"'],
    ['-12.34567', '="-12.34567"'],
    ['1.85', '1.85'],
    ['1,855', '1,855'],
    ['1.2.3456', '1.2.3456'],
    ['v1.855"', 'v1.855"'],
    ['Dallas, TX', 'Dallas, TX'],
    ['00123', '00123'],
    ['two\r\nlines\tof_x000D_text', 'two lines of text'],
  ])('%j is written as %j', (text, expected) => {
    expect(textCell(text)).toBe(expected)
  })
})
