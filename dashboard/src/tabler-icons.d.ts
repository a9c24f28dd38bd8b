/** The icons of the dashboard, by their names in Tabler Icons. The build makes the components (dashboard/tabler-icons.ts). */
declare module 'virtual:tabler-icons' {
  import type { ReactElement, SVGAttributes } from 'react'

  /** An icon of 24 by 24 pixels, or of `size`. It takes the color of the text around it. */
  export type Icon = (props: SVGAttributes<SVGSVGElement> & { readonly size?: number }) => ReactElement

  export const IconAlertCircle: Icon
  export const IconAlertTriangle: Icon
  export const IconArrowsExchange: Icon
  export const IconAward: Icon
  export const IconBan: Icon
  export const IconBookmark: Icon
  export const IconBuilding: Icon
  export const IconBulb: Icon
  export const IconChartBar: Icon
  export const IconRuler: Icon
  export const IconCheck: Icon
  export const IconChevronDown: Icon
  export const IconChevronLeft: Icon
  export const IconChevronRight: Icon
  export const IconChevronUp: Icon
  export const IconChevronsLeft: Icon
  export const IconCircle: Icon
  export const IconCircleCheck: Icon
  export const IconCircleCheckFilled: Icon
  export const IconCircleX: Icon
  export const IconClockExclamation: Icon
  export const IconClockOff: Icon
  export const IconClockPause: Icon
  export const IconCode: Icon
  export const IconColumns: Icon
  export const IconCopy: Icon
  export const IconCopyPlus: Icon
  export const IconDownload: Icon
  export const IconFileSpreadsheet: Icon
  export const IconFilter: Icon
  export const IconFlag: Icon
  export const IconFlask: Icon
  export const IconHelpCircle: Icon
  export const IconHourglass: Icon
  export const IconInfoCircle: Icon
  export const IconKey: Icon
  export const IconKeyboard: Icon
  export const IconListDetails: Icon
  export const IconListSearch: Icon
  export const IconMoon: Icon
  export const IconPlayerPause: Icon
  export const IconPlayerPlay: Icon
  export const IconPlugConnectedX: Icon
  export const IconReceipt: Icon
  export const IconRoute: Icon
  export const IconSearch: Icon
  export const IconSettings: Icon
  export const IconSignature: Icon
  export const IconSun: Icon
  export const IconTrash: Icon
  export const IconUpload: Icon
  export const IconWebhook: Icon
}
