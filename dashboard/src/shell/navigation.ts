import {
  IconAward,
  IconBuilding,
  IconChartBar,
  IconListDetails,
  IconReceipt,
  IconRoute,
  IconRuler,
  IconSettings,
} from 'virtual:tabler-icons'
import { type NamedPage, type Place, pageNames, pagePaths, places } from '#contract/pages.ts'

/** The icon of each place, by the page that the menu opens. */
const icons: Partial<Record<NamedPage, typeof IconReceipt>> = {
  [pagePaths.desk]: IconReceipt,
  [pagePaths.quotes]: IconListDetails,
  [pagePaths.approvals]: IconAward,
  [pagePaths.lane]: IconRoute,
  [pagePaths.customers]: IconBuilding,
  [pagePaths.results]: IconChartBar,
  [pagePaths.rules]: IconRuler,
  [pagePaths.settings]: IconSettings,
}

/** The page that the menu opens for a place. */
export const firstPageOf = ({ pages }: Place): NamedPage => pages[0]?.path ?? pagePaths.desk

export const iconOf = (place: Place): typeof IconReceipt => icons[firstPageOf(place)] ?? IconReceipt

/** All pages of the menu's places, with the role that each one needs. */
export const pagesOfPlaces = places.flatMap((place) =>
  place.pages.map(({ path, needs }) => ({ path, needs, label: pageNames[path], icon: iconOf(place) })),
)
